CREATE VIEW mart.transfers AS

WITH transfers AS (
    SELECT * FROM core.transfers
),

archives AS (
    SELECT * FROM core.archives
),

-- If two logs report the same transfers, only one of them is counted, so that one movement has one row. If
-- that log does not report failures, the failures of the other log are included.
sources AS (
    SELECT * FROM ledger.sources
    WHERE is_counted OR failures_as IS NOT NULL
),

-- Uncounted logs whose failures are counted, with the interface and the times for which they report failures.
failure_logs AS (
    SELECT
        sources.archive_id,
        sources.failures_as AS interface,
        min(log_files.first_event_at) AS since,
        max(log_files.last_event_at) AS until
    FROM ledger.sources
    INNER JOIN ledger.log_files ON sources.id = log_files.source_id
    WHERE sources.failures_as IS NOT NULL
    GROUP BY sources.archive_id, sources.failures_as
),

hosts AS (
    SELECT * FROM core.hosts
)

SELECT
    transfers.id AS transfer_id,
    archives.name AS archive,
    archives.kind,
    sources.name AS source,
    transfers.interface,
    transfers.direction,
    transfers.operation,
    transfers.user_id,
    hosts.name AS client,
    transfers.class_of_service,
    transfers.file_key,
    transfers.persona,
    transfers.server,
    transfers.status_code,
    -- The text in a log may name a file, and not everybody may see names. The codes never name a file.
    CASE
        WHEN transfers.status_text ~ '^-?[0-9]+( [(][A-Za-z]{1,8} -?[0-9]+[)])?$' THEN transfers.status_text
    END AS status_text,

    transfers.size_bytes,
    transfers.duration_s,
    transfers.open_s,
    transfers.seek_s,
    -- A saturated size would silently give a wrong rate.
    coalesce(
        transfers.rate_bytes_per_s,
        CASE
            WHEN transfers.is_size_saturated THEN NULL
            ELSE transfers.size_bytes / nullif(transfers.duration_s, 0)
        END
    ) AS rate_bytes_per_s,

    transfers.is_failed,
    'transfers' = any(sources.failure_tables)
    OR coalesce(transfers.ended_at BETWEEN failure_logs.since AND failure_logs.until, FALSE)
        AS is_failure_logged,
    transfers.is_time_ambiguous,
    transfers.is_time_of_day_unknown,
    transfers.is_duration_coarse,
    transfers.is_duration_below_clock,
    transfers.is_size_saturated,
    transfers.is_rate_inconsistent,
    sources.is_of_parts,

    transfers.started_at,
    transfers.ended_at
FROM transfers
INNER JOIN archives ON transfers.archive_id = archives.id
INNER JOIN sources ON transfers.source_id = sources.id
LEFT JOIN hosts ON transfers.host_id = hosts.id
LEFT JOIN failure_logs
    ON transfers.archive_id = failure_logs.archive_id AND transfers.interface = failure_logs.interface
WHERE sources.is_counted OR transfers.is_failed;
