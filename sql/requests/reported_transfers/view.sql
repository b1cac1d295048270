CREATE VIEW mart.reported_transfers AS

WITH requests AS (
    SELECT * FROM core.requests
)

SELECT
    requests.archive_id,
    requests.transfer_id,
    requests.ended_at
FROM requests
WHERE requests.transfer_id IS NOT NULL;
