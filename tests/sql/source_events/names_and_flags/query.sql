SELECT * FROM mart.source_events ORDER BY archive
