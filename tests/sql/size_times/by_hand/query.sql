SELECT * FROM mart.size_times() ORDER BY archive DESC, direction, size_from_bytes
