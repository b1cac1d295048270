"""Events that are not transfers, by kind and operation."""

from tapewise.report.section import Section

SECTION = Section(
    name="others",
    question="What else do the logs report?",
    heading="Other events in the logs",
    heads=("what", "operation", "lines", "mean time"),
    query="""
    SELECT 'name-space event' AS what, operation, count(*) AS line_count, avg(duration_s) AS mean_s
    FROM mart.namespace_events WHERE archive = %(archive)s
        AND happened_at >= coalesce(%(since)s::timestamptz, '-infinity')
        AND happened_at < coalesce(%(until)s::timestamptz, 'infinity')
    GROUP BY operation
    UNION ALL
    SELECT 'UniTree job', operation, count(*), avg(duration_s)
    FROM mart.unitree_jobs WHERE archive = %(archive)s
        AND ended_at >= coalesce(%(since)s::timestamptz, '-infinity')
        AND ended_at < coalesce(%(until)s::timestamptz, 'infinity')
    GROUP BY operation
    UNION ALL
    SELECT 'stage from tape', operation, count(*), avg(duration_s)
    FROM mart.stages WHERE archive = %(archive)s
        AND staged_at >= coalesce(%(since)s::timestamptz, '-infinity')
        AND staged_at < coalesce(%(until)s::timestamptz, 'infinity')
    GROUP BY operation
    UNION ALL
    SELECT 'migration to tape', operation, count(*), avg(duration_s)
    FROM mart.migrations WHERE archive = %(archive)s
        AND migrated_at >= coalesce(%(since)s::timestamptz, '-infinity')
        AND migrated_at < coalesce(%(until)s::timestamptz, 'infinity')
    GROUP BY operation
    UNION ALL
    SELECT 'file opened', operation, count(*), NULL
    FROM mart.opens WHERE archive = %(archive)s
        AND opened_at >= coalesce(%(since)s::timestamptz, '-infinity')
        AND opened_at < coalesce(%(until)s::timestamptz, 'infinity')
    GROUP BY operation
    ORDER BY what, line_count DESC, operation
    """,
    silence="There is no other event.",
    needs_detail=True,
)
