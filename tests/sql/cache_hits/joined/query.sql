SELECT archive, interface, get_count, cached_count, uncached_count, joined_count, hit_ratio
FROM mart.cache_hits()
WHERE grouped_by = 'interface'
ORDER BY archive, interface
