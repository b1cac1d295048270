CREATE VIEW mart.snapshots AS

WITH snapshots AS (
    SELECT * FROM core.snapshots
),

archives AS (
    SELECT * FROM core.archives
),

-- If two listings report the same items, only one of them is counted.
sources AS (
    SELECT * FROM ledger.sources
    WHERE is_counted
)

SELECT
    snapshots.id AS snapshot_id,
    archives.name AS archive,
    archives.kind,
    archives.timezone,
    sources.name AS source,
    snapshots.interface,
    -- In every view, `kind` is the kind of the archive.
    snapshots.kind AS item_kind,
    snapshots.state,
    snapshots.task,
    snapshots.vsn,
    snapshots.tape_type,
    snapshots.drive,
    snapshots.location,
    snapshots.class_of_service,
    snapshots.user_id,
    snapshots.file_key,

    snapshots.is_full,
    snapshots.is_up,

    snapshots.file_count,
    snapshots.size_bytes,
    snapshots.capacity_bytes,

    snapshots.is_time_ambiguous,

    snapshots.started_at AS since_at,
    snapshots.listed_at
FROM snapshots
INNER JOIN archives ON snapshots.archive_id = archives.id
INNER JOIN sources ON snapshots.source_id = sources.id;
