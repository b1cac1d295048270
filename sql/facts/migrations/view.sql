CREATE VIEW mart.migrations AS

WITH migrations AS (
    SELECT * FROM core.migrations
),

archives AS (
    SELECT * FROM core.archives
),

-- If two logs report the same migrations, only one of them is counted.
sources AS (
    SELECT * FROM ledger.sources
    WHERE is_counted
)

SELECT
    migrations.id AS migration_id,
    archives.name AS archive,
    archives.kind,
    sources.name AS source,
    migrations.interface,
    migrations.operation,
    migrations.class_of_service,
    migrations.file_key,
    migrations.vsn,
    migrations.drive,
    migrations.copy_number,
    migrations.status_code,

    migrations.size_bytes,
    migrations.duration_s,
    migrations.queue_s,

    migrations.is_failed,
    migrations.is_time_ambiguous,
    migrations.is_time_of_day_unknown,
    migrations.is_duration_coarse,
    migrations.is_duration_below_clock,

    migrations.started_at,
    migrations.migrated_at
FROM migrations
INNER JOIN archives ON migrations.archive_id = archives.id
INNER JOIN sources ON migrations.source_id = sources.id;
