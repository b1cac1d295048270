CREATE VIEW mart.log_files AS

WITH log_files AS (
    SELECT * FROM ledger.log_files
),

sources AS (
    SELECT * FROM ledger.sources
),

archives AS (
    SELECT * FROM core.archives
)

SELECT
    log_files.id AS log_file_id,
    archives.name AS archive,
    archives.kind,
    sources.name AS source,
    sources.format,
    log_files.format_version,
    log_files.program_version,
    log_files.path,
    log_files.log_date_from,

    log_files.line_count,
    log_files.loaded_count,
    log_files.held_count,
    log_files.ignored_count,
    log_files.rejected_count,
    log_files.read_bytes,
    log_files.waiting_bytes,

    sources.is_counted,

    log_files.log_date,
    log_files.first_event_at,
    log_files.last_event_at,
    log_files.first_read_at,
    log_files.last_read_at
FROM log_files
INNER JOIN sources ON log_files.source_id = sources.id
INNER JOIN archives ON sources.archive_id = archives.id;
