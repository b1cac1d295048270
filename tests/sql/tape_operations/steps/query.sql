SELECT * FROM mart.tape_operations ORDER BY first_event_at
