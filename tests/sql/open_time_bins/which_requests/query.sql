SELECT * FROM mart.open_time_bins()
ORDER BY archive, open_from_s
