"""How long each step of a mount takes."""

from tapewise.report.phrases import say_time
from tapewise.report.section import Facts, Finding, Section

# Mounts are slow if one in twenty takes this long until the tape is at the first file.
SLOW_S = 300
FEWEST_MOUNTS = 100


def find(facts: Facts) -> Finding | None:
    """Say how long it takes until a mounted tape is positioned."""
    row = next((row for row in facts["mount_steps"] if row["step"] == "mount and position"), None)
    mount_count = 0 if row is None else row["mount_count"]
    if row is None or mount_count < FEWEST_MOUNTS:
        return Finding(
            f"Too few mounts ({mount_count}, not {FEWEST_MOUNTS}) with known times to say how long they take",
            False,
        )
    return Finding(
        f"The median mount took {say_time(row['p50_s'])} until the tape was at the first file, and the"
        f" slowest twentieth {say_time(row['p95_s'])} or longer",
        row["p95_s"] >= SLOW_S,
    )


SECTION = Section(
    name="mount_steps",
    question="How long does each step of a mount take?",
    heading="Steps of mounts",
    heads=("step", "mounts", "median", "95 %", "99 %", "longest"),
    query="""
    SELECT step, count(*) AS mount_count,
        percentile_disc(0.5) WITHIN GROUP (ORDER BY step_s) AS p50_s,
        percentile_disc(0.95) WITHIN GROUP (ORDER BY step_s) AS p95_s,
        percentile_disc(0.99) WITHIN GROUP (ORDER BY step_s) AS p99_s,
        max(step_s) AS max_s
    FROM mart.mounts
    CROSS JOIN LATERAL (
        VALUES (1, 'queue', queue_s), (2, 'mount and position', mount_s), (3, 'transfer', transfer_s),
            (4, 'lazy wait', lazy_wait_s), (5, 'dismount', dismount_s), (6, 'in the drive', stay_s)
    ) AS steps (place, step, step_s)
    WHERE archive = %(archive)s
        AND last_event_at >= coalesce(%(since)s::timestamptz, '-infinity')
        AND last_event_at < coalesce(%(until)s::timestamptz, 'infinity')
        AND step_s IS NOT NULL
    GROUP BY place, step
    ORDER BY place
    """,
    needs=("tape_events",),
    note=(
        "Queue is the time from the request for a file to that for its mount. Lazy wait is the time in the"
        " drive after the last file."
    ),
    silence="Of no mount are two times known.",
    needs_detail=True,
    find=find,
)
