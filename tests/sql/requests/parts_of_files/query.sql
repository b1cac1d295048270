SELECT transfer_id, is_of_parts
FROM mart.requests
ORDER BY transfer_id
