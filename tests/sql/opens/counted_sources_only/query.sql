SELECT open_id, source, direction, client, class_of_service, status_code, open_s, is_failed, opened_at
FROM mart.opens
ORDER BY open_id
