SELECT record_number, value, happened_on, happened_at
FROM mart.records()
ORDER BY record_number
