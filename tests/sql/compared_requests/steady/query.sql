WITH answers AS (
    SELECT 'real one' AS asked_for, * FROM mart.compared_requests('real', 'one')
    UNION ALL
    SELECT 'one real', * FROM mart.compared_requests('one', 'real')
    UNION ALL
    SELECT 'one two', * FROM mart.compared_requests('one', 'two')
    UNION ALL
    SELECT 'real one since', * FROM mart.compared_requests('real', 'one', since => '2000-01-15 11:00')
    UNION ALL
    SELECT 'old one', * FROM mart.compared_requests('old', 'one')
    UNION ALL
    SELECT 'real never', * FROM mart.compared_requests('real', 'never')
    UNION ALL
    SELECT 'never real', * FROM mart.compared_requests('never', 'real')
    UNION ALL
    SELECT 'real unknown', * FROM mart.compared_requests('real', 'unknown')
)

SELECT asked_for, side, sum(size_bytes)::bigint AS found, min(span_began_at) AS span_began_at
FROM answers
GROUP BY asked_for, side
ORDER BY asked_for, side
