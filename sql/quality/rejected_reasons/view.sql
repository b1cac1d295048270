CREATE VIEW mart.rejected_reasons AS

-- The lines themselves stay in the ledger, because they contain names of users and files.
WITH reasons AS (
    SELECT
        log_file_id,
        reason,
        count(*) AS line_count,
        min(line_number) AS first_line_number
    FROM ledger.rejected_lines
    GROUP BY log_file_id, reason
),

log_files AS (
    SELECT * FROM ledger.log_files
),

sources AS (
    SELECT * FROM ledger.sources
),

archives AS (
    SELECT * FROM core.archives
)

SELECT
    reasons.log_file_id,
    archives.name AS archive,
    archives.kind,
    sources.name AS source,
    reasons.reason,

    reasons.line_count,
    reasons.first_line_number
FROM reasons
INNER JOIN log_files ON reasons.log_file_id = log_files.id
INNER JOIN sources ON log_files.source_id = sources.id
INNER JOIN archives ON sources.archive_id = archives.id;
