SELECT size_class, get_count, cached_count, saturated_count, cached_bytes
FROM mart.cache_hits()
WHERE grouped_by = 'size_class'
ORDER BY cached_bytes
