WITH answers (asked_for, open_from_s) AS (
    SELECT 'archive', open_from_s FROM mart.open_time_bins(archive => 'llnl') WHERE request_count > 0
    UNION ALL
    SELECT 'since', open_from_s FROM mart.open_time_bins(since => '2000-01-15 12:00') WHERE request_count > 0
    UNION ALL
    SELECT 'until', open_from_s FROM mart.open_time_bins(until => '2000-01-15 13:00') WHERE request_count > 0
    UNION ALL
    SELECT 'interface', open_from_s FROM mart.open_time_bins(interface => 'nft') WHERE request_count > 0
    UNION ALL
    SELECT 'direction', open_from_s FROM mart.open_time_bins(direction => 'get') WHERE request_count > 0
    UNION ALL
    SELECT 'client', open_from_s FROM mart.open_time_bins(client => 'cray') WHERE request_count > 0
    UNION ALL
    SELECT 'class_of_service', open_from_s FROM mart.open_time_bins(class_of_service => 'a') WHERE request_count > 0
    UNION ALL
    SELECT 'put', open_from_s FROM mart.open_time_bins(direction => 'put') WHERE request_count > 0
    UNION ALL
    SELECT 'all', open_from_s
    FROM mart.open_time_bins('llnl', '2000-01-15 12:00', '2000-01-15 13:00', 'nft', 'get', 'cray', 'a') WHERE request_count > 0
    UNION ALL
    SELECT 'nothing', open_from_s FROM mart.open_time_bins(archive => 'sdsc') WHERE request_count > 0
)

SELECT asked_for, string_agg(open_from_s::text, ' ' ORDER BY open_from_s) AS found
FROM answers
GROUP BY asked_for
ORDER BY asked_for
