SELECT
    told_by,
    waited_s,
    is_time_ambiguous
FROM mart.requests
ORDER BY ended_at
