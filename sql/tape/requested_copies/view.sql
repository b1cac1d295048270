CREATE VIEW mart.requested_copies AS

WITH starts AS (
    SELECT * FROM core.transfer_starts
),

archives AS (
    SELECT * FROM core.archives
)

SELECT
    starts.id AS start_id,
    archives.name AS archive,
    archives.kind,
    starts.copy_count,
    starts.began_at
FROM starts
INNER JOIN archives ON starts.archive_id = archives.id
WHERE starts.copy_count IS NOT NULL;
