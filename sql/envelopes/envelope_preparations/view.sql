CREATE VIEW mart.envelope_preparations AS

WITH preparations AS (
    SELECT * FROM studies.envelope_preparations
),

archives AS (
    SELECT * FROM core.archives
)

SELECT
    preparations.id AS preparation_id,
    archives.name AS archive,
    archives.kind,
    preparations.client,
    preparations.class_of_service,

    preparations.counted AS counted_count,
    preparations.transfer_count,
    preparations.took_s,

    preparations.since,
    preparations.until,
    preparations.first_ended_at,
    preparations.last_ended_at,
    preparations.computed_at
FROM preparations
INNER JOIN archives ON preparations.archive_id = archives.id;
