-- 24 hours of each day, none of them unknown.
SELECT
    archive,
    kind,
    weekday,
    weekday_name,
    count(*) AS hour_count,
    count(DISTINCT hour) AS different_count,
    min(hour) AS first_hour,
    max(hour) AS last_hour,
    count(*) FILTER (WHERE transfer_count + failed_count + size_bytes = 0) AS empty_count,
    sum(transfer_count) AS transfer_count,
    sum(failed_count) AS failed_count,
    sum(size_bytes) AS size_bytes
FROM mart.hour_profiles()
GROUP BY archive, kind, weekday, weekday_name
ORDER BY archive DESC, weekday
