CREATE VIEW mart.recorded_changes AS

WITH changes AS (
    SELECT
        outages.archive,
        outages.kind,
        outages.outage_kind || ' outage' AS change,
        NULL::text AS class_of_service,
        outages.note,
        outages.started_at,
        outages.ended_at
    FROM mart.outages
    UNION ALL
    SELECT
        config_changes.archive,
        config_changes.kind,
        config_changes.change_kind AS change,
        config_changes.class_of_service,
        config_changes.note,
        config_changes.started_at,
        config_changes.ended_at
    FROM mart.config_changes
)

SELECT
    changes.archive,
    changes.kind,
    changes.change,
    changes.class_of_service,
    changes.note,

    changes.started_at,
    changes.ended_at,
    changes.started_at AT TIME ZONE archives.timezone AS started_local,
    changes.ended_at AT TIME ZONE archives.timezone AS ended_local
FROM changes
INNER JOIN mart.archives ON changes.archive = archives.archive;
