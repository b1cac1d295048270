SELECT * FROM mart.records() ORDER BY archive DESC, record_number
