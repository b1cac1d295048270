SELECT * FROM mart.opens ORDER BY open_id
