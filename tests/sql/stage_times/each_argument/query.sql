WITH answers (asked_for, stage_from_s) AS (
    SELECT 'archive', stage_from_s FROM mart.stage_times(archive => 'llnl') WHERE stage_count + failed_count > 0
    UNION ALL
    SELECT 'since', stage_from_s FROM mart.stage_times(since => '2000-01-15 12:00') WHERE stage_count + failed_count > 0
    UNION ALL
    SELECT 'until', stage_from_s FROM mart.stage_times(until => '2000-01-15 13:00') WHERE stage_count + failed_count > 0
    UNION ALL
    SELECT 'interface', stage_from_s FROM mart.stage_times(interface => 'unitree') WHERE stage_count + failed_count > 0
    UNION ALL
    SELECT 'direction', stage_from_s FROM mart.stage_times(direction => 'get') WHERE stage_count + failed_count > 0
    UNION ALL
    SELECT 'client', stage_from_s FROM mart.stage_times(client => 'cray') WHERE stage_count + failed_count > 0
    UNION ALL
    SELECT 'class_of_service', stage_from_s FROM mart.stage_times(class_of_service => 'a') WHERE stage_count + failed_count > 0
    UNION ALL
    SELECT 'put', stage_from_s FROM mart.stage_times(direction => 'put') WHERE stage_count + failed_count > 0
    UNION ALL
    SELECT 'all', stage_from_s
    FROM mart.stage_times('llnl', '2000-01-15 12:00', '2000-01-15 13:00', 'unitree', 'get', 'cray', 'a') WHERE stage_count + failed_count > 0
    UNION ALL
    SELECT 'nothing', stage_from_s FROM mart.stage_times(archive => 'sdsc') WHERE stage_count + failed_count > 0
)

SELECT asked_for, string_agg(stage_from_s::text, ' ' ORDER BY stage_from_s) AS found
FROM answers
GROUP BY asked_for
ORDER BY asked_for
