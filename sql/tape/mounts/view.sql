CREATE VIEW mart.mounts AS

WITH mounts AS (
    SELECT * FROM core.mounts
),

archives AS (
    SELECT * FROM core.archives
)

SELECT
    mounts.mount_id,
    archives.name AS archive,
    archives.kind,
    archives.timezone,
    mounts.interface,
    mounts.vsn,
    mounts.tape_type,
    mounts.drive,
    mounts.location,
    mounts.requester,
    mounts.dismounted_at IS NULL AS is_unfinished,
    nullif(
        concat_ws(
            ', ',
            CASE WHEN mounts.mount_requested_at IS NULL THEN 'mount requested' END,
            -- Few logs say when a cartridge was in its drive, so `mounted` is not missed.
            CASE WHEN mounts.positioned_at IS NULL THEN 'positioned' END,
            CASE WHEN mounts.transferred_at IS NULL THEN 'transferred' END,
            CASE WHEN mounts.dismount_requested_at IS NULL THEN 'dismount requested' END,
            CASE WHEN mounts.dismounted_at IS NULL THEN 'dismounted' END
        ),
        ''
    ) AS missing,

    -- A log without events of files, such as a library's, does not say how many there were.
    CASE WHEN num_nonnulls(mounts.positioned_at, mounts.transferred_at) > 0 THEN mounts.transfer_count END
        AS transfer_count,
    CASE WHEN num_nonnulls(mounts.positioned_at, mounts.transferred_at) > 0 THEN mounts.failed_count END
        AS failed_count,
    CASE WHEN num_nonnulls(mounts.positioned_at, mounts.transferred_at) > 0 THEN mounts.repacker_count END
        AS repacker_count,
    mounts.size_bytes,
    extract(EPOCH FROM mounts.mount_requested_at - mounts.received_at)::double precision AS queue_s,
    extract(EPOCH FROM mounts.positioned_at - mounts.mount_requested_at)::double precision AS mount_s,
    extract(EPOCH FROM mounts.positioned_at - mounts.mounted_at)::double precision AS position_s,
    mounts.transfer_s,
    extract(EPOCH FROM mounts.dismount_requested_at - mounts.transferred_at)::double precision AS lazy_wait_s,
    extract(EPOCH FROM mounts.dismounted_at - mounts.dismount_requested_at)::double precision AS dismount_s,
    extract(EPOCH FROM mounts.dismounted_at - mounts.mounted_at)::double precision AS stay_s,

    mounts.is_time_ambiguous,

    mounts.received_at,
    mounts.mount_requested_at,
    mounts.mounted_at,
    mounts.positioned_at,
    mounts.transferred_at,
    mounts.dismount_requested_at,
    mounts.dismounted_at,
    mounts.first_event_at,
    mounts.last_event_at
FROM mounts
INNER JOIN archives ON mounts.archive_id = archives.id;
