CREATE VIEW mart.reported_transfers AS

-- Without a CTE, unlike other views: the planner would plan the view apart, and read all requests for each
-- transfer of a client, instead of looking the few up in the index.
SELECT
    requests.archive_id,
    requests.transfer_id,
    requests.ended_at
FROM core.requests AS requests
WHERE requests.transfer_id IS NOT NULL;
