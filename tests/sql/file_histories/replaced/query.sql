SELECT version_id, event_number, event_id, event, origin, file_key, size_bytes, version_bytes, is_name_new,
    extract(HOUR FROM happened_at - born_at)::integer AS age_h
FROM mart.file_histories()
ORDER BY archive, version_id, event_number
