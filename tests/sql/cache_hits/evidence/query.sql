SELECT interface, get_count, cached_count, uncached_count, unknown_count, bypassed_count, hit_ratio, unknown_ratio
FROM mart.cache_hits()
WHERE grouped_by IN ('all', 'interface')
ORDER BY interface NULLS FIRST
