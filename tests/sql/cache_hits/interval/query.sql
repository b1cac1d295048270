SELECT get_count, hit_ratio, hit_ratio_low, hit_ratio_high, unknown_ratio
FROM mart.cache_hits()
WHERE grouped_by = 'all'
