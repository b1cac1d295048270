CREATE VIEW mart.ignored_lines AS

WITH ignored_lines AS (
    SELECT * FROM ledger.ignored_lines
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
    ignored_lines.log_file_id,
    archives.name AS archive,
    archives.kind,
    sources.name AS source,
    ignored_lines.reason,

    ignored_lines.line_count
FROM ignored_lines
INNER JOIN log_files ON ignored_lines.log_file_id = log_files.id
INNER JOIN sources ON log_files.source_id = sources.id
INNER JOIN archives ON sources.archive_id = archives.id;
