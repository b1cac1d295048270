"""The five hours of the day with the most mounts."""

from tapewise.report.section import Section

SECTION = Section(
    name="mount_hours",
    question="At which hours of the day are cartridges mounted?",
    heading="The five hours of the day with the most mounts",
    heads=("hour", "mounts", "of all", "files", "bytes"),
    query="""
    WITH hours AS (
        SELECT
            CASE WHEN is_time_ambiguous IS FALSE THEN to_char(
                coalesce(mount_requested_at, mounted_at, positioned_at) AT TIME ZONE timezone, 'HH24:00'
            ) END AS hour,
            count(*) AS mount_count,
            count(*) / sum(count(*)) OVER () AS mount_ratio,
            sum(transfer_count)::bigint AS file_count, sum(size_bytes) AS size_bytes
        FROM mart.mounts
        WHERE archive = %(archive)s
            AND last_event_at >= coalesce(%(since)s::timestamptz, '-infinity')
            AND last_event_at < coalesce(%(until)s::timestamptz, 'infinity')
        GROUP BY hour
    )
    SELECT hour, mount_count, mount_ratio, file_count, size_bytes
    FROM hours
    WHERE hour IS NOT NULL
    ORDER BY mount_count DESC, hour
    LIMIT 5
    """,
    needs=("tape_events",),
    note="A mount counts in the hour of the request for it or, if that is not known, of what followed first."
    " Mounts of which only the end is known are in no hour, but all mounts are in 'of all'.",
    silence="Of no mount is it known when it began.",
    needs_detail=True,
)
