SELECT transfer_id, interface, persona, status_code, status_text, is_failed
FROM mart.transfers
ORDER BY transfer_id
