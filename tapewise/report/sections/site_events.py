"""Outages and changes of the configuration, which people record (`tapewise outages`, `config-changes`)."""

from tapewise.report.section import Section

SECTION = Section(
    name="site_events",
    question="What happened to the archive itself?",
    heading="Recorded outages and changes of the configuration",
    heads=("what", "kind", "class of service", "began", "ended", "note"),
    query="""
    SELECT what, event_kind, class_of_service,
        (started_at AT TIME ZONE timezone)::timestamp(0) AS started_local,
        (ended_at AT TIME ZONE timezone)::timestamp(0) AS ended_local, note
    FROM (
        SELECT 'outage' AS what, archive, outage_kind AS event_kind, NULL AS class_of_service, note,
            started_at, ended_at
        FROM mart.outages
        UNION ALL
        SELECT 'change', archive, change_kind, class_of_service, note, started_at, ended_at
        FROM mart.config_changes
    ) AS events
    JOIN mart.archives USING (archive)
    WHERE archive = %(archive)s
        AND started_at < coalesce(%(until)s::timestamptz, 'infinity')
        AND coalesce(ended_at, 'infinity') > coalesce(%(since)s::timestamptz, '-infinity')
    ORDER BY started_at, what DESC, event_kind, note
    """,
    silence="None are recorded in this time.",
)
