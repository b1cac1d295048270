SELECT * FROM mart.transfers ORDER BY transfer_id
