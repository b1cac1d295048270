SELECT record_number, value, interface, direction, happened_at
FROM mart.records()
ORDER BY record_number
