SELECT archive, interface, cell_at, is_time_of_day_unknown, failures_unknown_count, unknown_size_count, unknown_duration_count
FROM mart.activity_cells
ORDER BY archive, interface, cell_at, is_time_of_day_unknown
