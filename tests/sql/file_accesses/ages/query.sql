SELECT * FROM mart.file_accesses() ORDER BY transfer_id
