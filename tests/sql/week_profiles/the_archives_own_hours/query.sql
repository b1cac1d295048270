SELECT * FROM mart.week_profiles()
ORDER BY archive DESC, hour_of_week, direction, interface
