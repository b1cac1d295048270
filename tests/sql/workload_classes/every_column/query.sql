SELECT
    model, archive, kind, interface, direction, class_number, class_name, request_count, size_bytes, request_ratio,
    size_ratio, centroid_size_bytes, centroid_time_s, size_log10, time_log10, cached_ratio,
    size_quantiles_bytes::text AS sizes, time_quantiles_s::text AS times
FROM mart.workload_classes
ORDER BY model, direction, class_number
