SELECT * FROM mart.hour_profiles()
WHERE transfer_count > 0
ORDER BY archive DESC, weekday, hour
