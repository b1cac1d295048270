SELECT interface, cached_bytes, uncached_bytes, byte_hit_ratio, saturated_count
FROM mart.cache_hits()
WHERE grouped_by = 'interface'
ORDER BY interface
