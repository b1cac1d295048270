SELECT transfer_id, is_of_parts
FROM mart.transfers
ORDER BY transfer_id
