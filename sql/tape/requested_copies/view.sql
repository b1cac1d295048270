CREATE VIEW mart.requested_copies AS

WITH starts AS (
    SELECT * FROM core.transfer_starts
),

archives AS (
    SELECT * FROM core.archives
),

-- If two logs report the same starts, only one of them is counted.
sources AS (
    SELECT * FROM ledger.sources
    WHERE is_counted
)

SELECT
    starts.id AS start_id,
    archives.name AS archive,
    archives.kind,
    starts.copy_count,
    starts.began_at
FROM starts
INNER JOIN archives ON starts.archive_id = archives.id
INNER JOIN sources ON starts.source_id = sources.id
WHERE starts.copy_count IS NOT NULL;
