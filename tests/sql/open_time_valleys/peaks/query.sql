SELECT * FROM mart.open_time_valleys() ORDER BY archive, valley_number
