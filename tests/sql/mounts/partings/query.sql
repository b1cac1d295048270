SELECT
    mount_id,
    vsn,
    drive,
    missing,
    transfer_count,
    queue_s,
    mount_s,
    transfer_s,
    first_event_at,
    last_event_at
FROM mart.mounts
ORDER BY vsn, first_event_at, last_event_at
