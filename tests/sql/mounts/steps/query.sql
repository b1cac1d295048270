SELECT * FROM mart.mounts ORDER BY first_event_at
