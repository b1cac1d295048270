SELECT * FROM mart.file_events ORDER BY event_id
