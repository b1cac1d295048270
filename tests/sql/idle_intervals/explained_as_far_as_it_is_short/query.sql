-- What the outage leaves is 20 minutes long.
WITH answers (shortest_s, is_explained) AS (
    SELECT 0, is_explained FROM mart.idle_intervals(shortest_s => 0)
    UNION ALL
    SELECT 1200, is_explained FROM mart.idle_intervals(shortest_s => 1200)
    UNION ALL
    SELECT 1201, is_explained FROM mart.idle_intervals(shortest_s => 1201)
    UNION ALL
    SELECT 3600, is_explained FROM mart.idle_intervals(shortest_s => 3600)
    UNION ALL
    SELECT 3601, is_explained FROM mart.idle_intervals(shortest_s => 3601)
)

SELECT shortest_s, is_explained
FROM answers
ORDER BY shortest_s
