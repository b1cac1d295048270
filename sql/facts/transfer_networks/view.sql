CREATE VIEW mart.transfer_networks AS

WITH starts AS (
    SELECT * FROM core.transfer_starts
    WHERE network IS NOT NULL
),

-- A request combines the line of a start with that of its end.
requests AS (
    SELECT * FROM core.requests
    WHERE is_counted
),

archives AS (
    SELECT * FROM core.archives
)

SELECT
    requests.transfer_id,
    starts.id AS start_id,
    archives.name AS archive,
    archives.kind,
    starts.network,
    starts.began_at
FROM starts
INNER JOIN archives ON starts.archive_id = archives.id
INNER JOIN requests ON starts.id = requests.start_id
WHERE requests.transfer_id IS NOT NULL;
