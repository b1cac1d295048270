SELECT * FROM mart.open_time_bins()
WHERE request_count > 0
ORDER BY archive, open_from_s
