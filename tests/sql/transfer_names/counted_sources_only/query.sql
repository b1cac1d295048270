SELECT * FROM mart.transfer_names ORDER BY transfer_id
