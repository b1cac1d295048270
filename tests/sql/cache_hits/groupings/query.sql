SELECT
    archive,
    kind,
    grouped_by,
    coalesce(size_class, interface, class_of_service, starts_on::text) AS value,
    get_count,
    hit_ratio,
    hit_ratio_low,
    hit_ratio_high
FROM mart.cache_hits()
ORDER BY archive, grouped_by, value
