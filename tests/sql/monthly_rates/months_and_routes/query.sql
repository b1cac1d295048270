SELECT * FROM mart.monthly_rates() ORDER BY size_bytes
