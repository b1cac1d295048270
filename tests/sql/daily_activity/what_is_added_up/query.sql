SELECT * FROM mart.daily_activity() ORDER BY interface DESC, direction
