SELECT
    place,
    size_bytes,
    gap_s,
    time_log10,
    set_apart
FROM mart.burst_requests()
ORDER BY place
