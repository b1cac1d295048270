"""Mounts of cartridges, by drive."""

from typing import TYPE_CHECKING

from tapewise.report.section import Facts, Finding, Section

if TYPE_CHECKING:
    import altair

# Mounts are poorly used if they serve fewer files than this, on average.
FEW_FILES = 2.0
FEWEST_MOUNTS = 100
MOST_BARS = 20


def find(facts: Facts) -> Finding | None:
    """Say how many files a mount serves, of those that reached a drive."""
    drives = [row for row in facts["mounts"] if row["drive"] is not None]
    mount_count = sum(row["mount_count"] for row in drives)
    if mount_count < FEWEST_MOUNTS:
        return Finding(
            f"Too few mounts ({mount_count}, not {FEWEST_MOUNTS}) to say how well they are used", False
        )
    files = sum(row["file_count"] for row in drives) / mount_count
    return Finding(f"A mount serves {files:.1f} files on average", files < FEW_FILES)


def draw(facts: Facts) -> "list[altair.TopLevelMixin]":
    """A bar for each of the drives with the most mounts."""
    import altair as alt

    from tapewise.report import charts

    drive_count = sum(row["drive"] is not None for row in facts["mounts"])
    if not drive_count:
        return []
    return [
        charts.plot("mounts", height=14 * min(drive_count, MOST_BARS) + 20)
        .mark_bar(color=charts.BLUE)
        .encode(
            x=alt.X("mount_count:Q", title="mounts", axis=charts.count_axis()),
            y=alt.Y("drive:N", title=None, sort="-x"),
        )
        .transform_filter("isValid(datum.drive)")
        .transform_window(place="row_number()", sort=[alt.SortField("mount_count", order="descending")])
        .transform_filter(f"datum.place <= {MOST_BARS}")
    ]


SECTION = Section(
    name="mounts",
    question="How are drives and mounts used?",
    heading="Mounts by drive",
    heads=("drive", "mounts", "files", "failed", "bytes", "median queue", "median mount", "median lazy wait"),
    query="""
    SELECT drive, count(*) AS mount_count,
        sum(transfer_count)::bigint AS file_count, sum(failed_count)::bigint AS failed_count,
        sum(size_bytes) AS size_bytes,
        percentile_cont(0.5) WITHIN GROUP (ORDER BY queue_s) AS queue_p50_s,
        percentile_cont(0.5) WITHIN GROUP (ORDER BY mount_s) AS mount_p50_s,
        percentile_cont(0.5) WITHIN GROUP (ORDER BY lazy_wait_s) AS lazy_wait_p50_s
    FROM mart.mounts
    WHERE archive = %(archive)s
        AND last_event_at >= coalesce(%(since)s::timestamptz, '-infinity')
        AND last_event_at < coalesce(%(until)s::timestamptz, 'infinity')
    GROUP BY drive
    ORDER BY mount_count DESC, drive
    """,
    needs=("tape_events",),
    silence="No cartridge was mounted.",
    needs_detail=True,
    find=find,
    draw=draw,
    caption=(
        "Mounts whose last event was in the period, by the drive that served them; the figure has up to"
        " twenty drives. The row of an unknown drive is of cartridges that never reached one, as far"
        " as the log says. Files include those that failed. Queue is the time from the file's request to the"
        " request to mount; mount includes positioning; lazy wait is the time in the drive after the last"
        " file."
    ),
)
