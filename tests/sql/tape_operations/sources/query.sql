SELECT
    archive,
    kind,
    operation_id,
    mount_id,
    missing
FROM mart.tape_operations
ORDER BY archive, operation_id
