SELECT * FROM mart.namespace_events ORDER BY namespace_event_id
