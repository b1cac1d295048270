"""The cartridges that are mounted most often."""

from tapewise.report.section import Section

SECTION = Section(
    name="volumes",
    question="Which cartridges are mounted most?",
    heading="The ten cartridges with the most mounts",
    heads=("cartridge", "type", "mounts", "of all", "files", "failed", "bytes"),
    query="""
    SELECT vsn, max(tape_type) AS tape_type, count(*) AS mount_count,
        count(*) / sum(count(*)) OVER () AS mount_ratio,
        sum(transfer_count)::bigint AS file_count, sum(failed_count)::bigint AS failed_count,
        sum(size_bytes) AS size_bytes
    FROM mart.mounts
    WHERE archive = %(archive)s
        AND last_event_at >= coalesce(%(since)s::timestamptz, '-infinity')
        AND last_event_at < coalesce(%(until)s::timestamptz, 'infinity')
        AND vsn IS NOT NULL
    GROUP BY vsn
    ORDER BY mount_count DESC, vsn
    LIMIT 10
    """,
    needs=("tape_events",),
    note="Files include those that failed; bytes do not.",
    silence="Of no mount is the cartridge known.",
    needs_detail=True,
)
