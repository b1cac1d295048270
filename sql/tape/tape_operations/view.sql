CREATE VIEW mart.tape_operations AS

WITH tape_operations AS (
    SELECT * FROM core.tape_operations
),

archives AS (
    SELECT * FROM core.archives
)

SELECT
    tape_operations.operation_id,
    tape_operations.mount_id,
    archives.name AS archive,
    archives.kind,
    archives.timezone,
    tape_operations.interface,
    tape_operations.task,
    tape_operations.requester,
    tape_operations.capability_key,
    tape_operations.class_of_service,
    tape_operations.location,
    tape_operations.copy_number,
    tape_operations.fragment_number,
    tape_operations.vsn,
    tape_operations.tape_type,
    tape_operations.drive,
    tape_operations.block_offset,
    tape_operations.transferred_at IS NULL AS is_unfinished,
    nullif(
        concat_ws(
            ', ',
            CASE WHEN tape_operations.received_at IS NULL THEN 'received' END,
            CASE WHEN tape_operations.positioned_at IS NULL THEN 'positioned' END,
            CASE WHEN tape_operations.transferred_at IS NULL THEN 'transferred' END
        ),
        ''
    ) AS missing,

    tape_operations.size_bytes,
    extract(
        EPOCH FROM tape_operations.mount_requested_at - tape_operations.received_at
    )::double precision AS queue_s,
    extract(
        EPOCH FROM tape_operations.positioned_at - tape_operations.mount_requested_at
    )::double precision AS mount_s,
    extract(
        EPOCH FROM tape_operations.positioned_at - tape_operations.received_at
    )::double precision AS waited_s,
    extract(
        EPOCH FROM tape_operations.transferred_at - tape_operations.positioned_at
    )::double precision AS transfer_s,

    tape_operations.is_failed,
    tape_operations.is_time_ambiguous,

    tape_operations.received_at,
    tape_operations.mount_requested_at,
    tape_operations.positioned_at,
    tape_operations.transferred_at,
    tape_operations.first_event_at,
    tape_operations.last_event_at
FROM tape_operations
INNER JOIN archives ON tape_operations.archive_id = archives.id;
