SELECT archive, record_number, record, value
FROM mart.records()
WHERE unit = 'bytes'
ORDER BY archive DESC, record_number
