CREATE VIEW mart.transfer_names AS

WITH transfers AS (
    SELECT * FROM core.transfers
),

-- The same rows as mart.transfers.
sources AS (
    SELECT * FROM ledger.sources
    WHERE is_counted OR failures_as IS NOT NULL
)

SELECT
    transfers.id AS transfer_id,
    transfers.archive_path,
    transfers.client_path,
    transfers.account,

    -- Join by ended_at too, so that a month of transfers reads only a month of names.
    transfers.ended_at
FROM transfers
INNER JOIN sources ON transfers.source_id = sources.id
WHERE sources.is_counted OR transfers.is_failed;
