SELECT fact_table, is_time_of_day_unknown
FROM mart.source_events
ORDER BY fact_table
