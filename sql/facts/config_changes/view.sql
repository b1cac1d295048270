CREATE VIEW mart.config_changes AS

WITH config_changes AS (
    SELECT * FROM core.config_changes
),

archives AS (
    SELECT * FROM core.archives
)

SELECT
    config_changes.id AS config_change_id,
    archives.name AS archive,
    archives.kind,
    config_changes.kind AS change_kind,
    config_changes.class_of_service,
    config_changes.note,

    config_changes.started_at,
    config_changes.ended_at,
    config_changes.recorded_at
FROM config_changes
INNER JOIN archives ON config_changes.archive_id = archives.id;
