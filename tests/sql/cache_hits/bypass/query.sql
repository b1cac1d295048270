SELECT archive, class_of_service, get_count, cached_count, uncached_count, unknown_count, bypassed_count
FROM mart.cache_hits()
WHERE grouped_by = 'class_of_service'
ORDER BY archive, class_of_service
