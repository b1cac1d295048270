"""How long each step of a session of a drive took, from the totals at its end."""

from tapewise.report.section import Section

SECTION = Section(
    name="mount_total_steps",
    question="How long does each step of a session of a drive take?",
    heading="Steps of sessions of drives, from the totals at the end of each",
    heads=("step", "sessions", "of their time", "median", "95 %", "99 %", "longest"),
    query="""
    SELECT step, count(*) AS session_count,
        CASE WHEN place > 0 THEN sum(step_s) FILTER (WHERE duration_s IS NOT NULL)
            / nullif(sum(duration_s), 0) END AS time_ratio,
        percentile_disc(0.5) WITHIN GROUP (ORDER BY step_s) AS p50_s,
        percentile_disc(0.95) WITHIN GROUP (ORDER BY step_s) AS p95_s,
        percentile_disc(0.99) WITHIN GROUP (ORDER BY step_s) AS p99_s,
        max(step_s) AS max_s
    FROM mart.mount_summaries
    CROSS JOIN LATERAL (
        VALUES (0, 'whole session', duration_s), (1, 'mount', mount_s), (2, 'position', position_s),
            (3, 'read or write', transfer_s), (4, 'flush', flush_s), (5, 'wait', wait_s),
            (6, 'unload', unload_s), (7, 'dismount', dismount_s)
    ) AS steps (place, step, step_s)
    WHERE archive = %(archive)s
        AND ended_at >= coalesce(%(since)s::timestamptz, '-infinity')
        AND ended_at < coalesce(%(until)s::timestamptz, 'infinity')
        AND is_mounted IS NOT FALSE
        AND step_s IS NOT NULL
    GROUP BY place, step
    ORDER BY place
    """,
    needs=("mount_summaries",),
    note=(
        "Of sessions that mounted a cartridge. Position is of all files of a session together, and so are"
        " reading, writing, flushes and waits. Steps may overlap, because a drive may wait for one file while"
        " it writes another."
    ),
    silence="Of no session that mounted a cartridge is the time of a step known.",
    needs_detail=True,
)
