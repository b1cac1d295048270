SELECT * FROM mart.open_time_clusters() ORDER BY group_number
