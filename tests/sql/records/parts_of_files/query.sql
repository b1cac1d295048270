SELECT record_number, value
FROM mart.records()
ORDER BY record_number
