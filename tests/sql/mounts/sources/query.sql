SELECT
    mounts.archive,
    mounts.kind,
    mounts.mount_id,
    mounts.transfer_count,
    mounts.missing,
    array_agg(tape_operations.operation_id) AS operation_ids
FROM mart.mounts
LEFT JOIN mart.tape_operations ON mounts.archive = tape_operations.archive AND mounts.mount_id = tape_operations.mount_id
GROUP BY mounts.archive, mounts.kind, mounts.mount_id, mounts.transfer_count, mounts.missing
ORDER BY mounts.archive
