SELECT archive, grouped_by, starts_on, get_count, hit_ratio, unknown_ratio
FROM mart.cache_hits()
WHERE grouped_by IN ('day', 'month')
ORDER BY archive, grouped_by, starts_on
