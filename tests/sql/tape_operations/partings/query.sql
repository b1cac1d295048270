SELECT
    operation_id,
    mount_id,
    task,
    requester,
    capability_key,
    copy_number,
    fragment_number,
    missing,
    waited_s,
    first_event_at,
    last_event_at
FROM mart.tape_operations
ORDER BY first_event_at, vsn
