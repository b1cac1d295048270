SELECT * FROM mart.request_waits
ORDER BY archive, transfer_id
