SELECT * FROM mart.log_files
