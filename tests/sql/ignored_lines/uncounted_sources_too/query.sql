SELECT * FROM mart.ignored_lines ORDER BY log_file_id, reason
