SELECT
    is_staging_bypassed,
    string_agg(open_id::text, ' ' ORDER BY open_id) AS opens
FROM mart.requests
GROUP BY is_staging_bypassed
ORDER BY is_staging_bypassed
