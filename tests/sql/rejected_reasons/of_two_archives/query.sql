SELECT * FROM mart.rejected_reasons ORDER BY log_file_id, reason
