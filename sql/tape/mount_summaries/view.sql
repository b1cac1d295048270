CREATE VIEW mart.mount_summaries AS

WITH mount_summaries AS (
    SELECT * FROM core.mount_summaries
),

archives AS (
    SELECT * FROM core.archives
),

-- If two logs report the same mounts, only one of them is counted.
sources AS (
    SELECT * FROM ledger.sources
    WHERE is_counted
)

SELECT
    mount_summaries.id AS mount_summary_id,
    archives.name AS archive,
    archives.kind,
    archives.timezone,
    sources.name AS source,
    mount_summaries.interface,
    mount_summaries.operation,
    mount_summaries.mount_key,
    mount_summaries.task,
    mount_summaries.requester,
    mount_summaries.vsn,
    mount_summaries.tape_type,
    mount_summaries.drive,
    mount_summaries.location,
    mount_summaries.class_of_service,
    mount_summaries.status_code,

    mount_summaries.is_mounted,
    mount_summaries.is_failed,

    mount_summaries.file_count,
    mount_summaries.size_bytes,
    mount_summaries.duration_s,
    mount_summaries.mount_s,
    mount_summaries.position_s,
    mount_summaries.transfer_s,
    mount_summaries.flush_s,
    mount_summaries.wait_s,
    mount_summaries.unload_s,
    mount_summaries.dismount_s,

    mount_summaries.is_time_ambiguous,

    mount_summaries.started_at,
    mount_summaries.ended_at
FROM mount_summaries
INNER JOIN archives ON mount_summaries.archive_id = archives.id
INNER JOIN sources ON mount_summaries.source_id = sources.id;
