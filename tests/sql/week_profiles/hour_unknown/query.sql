SELECT hour_of_week, burst_count, request_count
FROM mart.week_profiles()
