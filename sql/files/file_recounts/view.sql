CREATE VIEW mart.file_recounts AS

WITH recounts AS (
    SELECT * FROM studies.file_recounts
),

archives AS (
    SELECT * FROM core.archives
),

-- Rows of later loads have larger numbers.
loaded AS (
    SELECT
        recounts.archive_id,
        sum(loaded_rows.row_count) AS row_count
    FROM studies.file_recounts AS recounts
    INNER JOIN ledger.sources ON recounts.archive_id = sources.archive_id
    INNER JOIN ledger.loaded_rows ON sources.id = loaded_rows.source_id
    WHERE
        sources.is_counted
        AND loaded_rows.fact_table IN ('transfers', 'namespace_events')
        AND loaded_rows.load_id > recounts.last_load_id
    GROUP BY recounts.archive_id
)

SELECT
    archives.name AS archive,
    archives.kind,
    recounts.event_count,
    coalesce(loaded.row_count, 0)::bigint AS newer_event_count,
    -- As many events are followed in less than two seconds.
    coalesce(loaded.row_count, 0) = 0 OR recounts.event_count >= 200000 AS is_used,
    recounts.last_event_at,
    recounts.computed_at
FROM recounts
INNER JOIN archives ON recounts.archive_id = archives.id
LEFT JOIN loaded ON recounts.archive_id = loaded.archive_id;
