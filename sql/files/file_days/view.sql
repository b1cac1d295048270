CREATE VIEW mart.file_days AS

WITH file_days AS (
    SELECT * FROM studies.file_days
),

sources AS (
    SELECT * FROM ledger.sources
),

archives AS (
    SELECT * FROM core.archives
)

SELECT
    archives.name AS archive,
    archives.kind,
    archives.timezone,
    sources.name AS source,
    file_days.interface,
    file_days.direction,
    file_days.class_of_service,

    file_days.put_count,
    file_days.copy_count,
    file_days.deleted_count,
    file_days.overwritten_count,
    file_days.unknown_size_count,
    file_days.new_name_count,
    file_days.unnamed_count,
    file_days.put_bytes,
    file_days.copied_bytes,
    file_days.deleted_bytes,
    file_days.overwritten_bytes,

    file_days.age_bins,
    file_days.age_get_counts,
    file_days.age_unknown_size_counts,
    file_days.age_bytes,

    file_days.day AS starts_on
FROM file_days
INNER JOIN sources ON file_days.source_id = sources.id
INNER JOIN archives ON sources.archive_id = archives.id;
