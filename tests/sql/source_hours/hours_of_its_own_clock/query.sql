SELECT * FROM mart.source_hours() ORDER BY hour_at
