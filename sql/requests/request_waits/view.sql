CREATE VIEW mart.request_waits AS

WITH waits AS (
    SELECT * FROM studies.request_waits
),

archives AS (
    SELECT * FROM core.archives
)

SELECT
    archives.name AS archive,
    archives.kind,
    waits.transfer_id,

    waits.user_wait_s,
    waits.port_wait_s,
    waits.file_wait_s,
    waits.drive_wait_s,
    waits.load_wait_s,
    waits.space_wait_s,
    waits.latency_s,
    waits.staging_s,
    waits.transfer_s,
    waits.contention_s
FROM waits
INNER JOIN archives ON waits.archive_id = archives.id;
