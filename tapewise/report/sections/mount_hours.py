"""The five hours of the day with the most mounts."""

from tapewise.report.section import Section

SECTION = Section(
    name="mount_hours",
    question="At which hours of the day are cartridges mounted?",
    heading="The five hours of the day with the most mounts",
    heads=("hour", "mounts", "of all", "files", "bytes"),
    query="""
    SELECT to_char(begun_at AT TIME ZONE timezone, 'HH24:00') AS hour, count(*) AS mount_count,
        count(*) / sum(count(*)) OVER () AS mount_ratio,
        sum(transfer_count)::bigint AS file_count, sum(size_bytes) AS size_bytes
    FROM mart.mounts
    CROSS JOIN LATERAL (SELECT coalesce(mount_requested_at, mounted_at, positioned_at) AS begun_at) AS begun
    WHERE archive = %(archive)s
        AND last_event_at >= coalesce(%(since)s::timestamptz, '-infinity')
        AND last_event_at < coalesce(%(until)s::timestamptz, 'infinity')
        AND begun_at IS NOT NULL
        AND is_time_ambiguous IS FALSE
    GROUP BY hour
    ORDER BY mount_count DESC, hour
    LIMIT 5
    """,
    needs=("tape_events",),
    note="A mount counts in the hour of the request for it or, if that is not known, of what followed first.",
    silence="Of no mount is it known when it began.",
    needs_detail=True,
)
