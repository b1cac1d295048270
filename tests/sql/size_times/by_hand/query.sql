SELECT * FROM mart.size_times() ORDER BY archive DESC, interface, direction, size_from_bytes
