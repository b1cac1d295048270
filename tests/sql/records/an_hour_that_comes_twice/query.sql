SELECT record_number, value, happened_on, happened_at
FROM mart.records()
WHERE unit = 'transfers'
ORDER BY record_number
