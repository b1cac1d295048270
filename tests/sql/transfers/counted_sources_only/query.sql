SELECT transfer_id, archive, kind, source, client, user_id IS NOT NULL AS has_user, size_bytes, is_failed
FROM mart.transfers
ORDER BY transfer_id
