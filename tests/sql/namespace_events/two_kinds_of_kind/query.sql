SELECT namespace_event_id, kind, event_kind, operation, file_key, new_file_key, size_bytes
FROM mart.namespace_events
ORDER BY namespace_event_id
