SELECT source, fact_table, interface, direction, is_counted, event_at
FROM mart.source_events
ORDER BY event_at
