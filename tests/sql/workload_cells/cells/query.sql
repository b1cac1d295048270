SELECT * FROM mart.workload_cells()
ORDER BY direction, interface DESC, size_bucket, time_bucket, set_apart
