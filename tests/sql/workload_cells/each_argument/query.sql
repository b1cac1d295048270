WITH answers (asked_for, size_bytes) AS (
    SELECT 'archive', size_bytes FROM mart.workload_cells(archive => 'llnl')
    UNION ALL
    SELECT 'since', size_bytes FROM mart.workload_cells(since => '2000-01-15 12:00')
    UNION ALL
    SELECT 'until', size_bytes FROM mart.workload_cells(until => '2000-01-15 13:00')
    UNION ALL
    SELECT 'interface', size_bytes FROM mart.workload_cells(interface => 'nft')
    UNION ALL
    SELECT 'direction', size_bytes FROM mart.workload_cells(direction => 'get')
    UNION ALL
    SELECT 'client', size_bytes FROM mart.workload_cells(client => 'cray')
    UNION ALL
    SELECT 'class_of_service', size_bytes FROM mart.workload_cells(class_of_service => 'a')
    UNION ALL
    SELECT 'all', size_bytes
    FROM mart.workload_cells('llnl', '2000-01-15 12:00', '2000-01-15 13:00', 'nft', 'get', 'cray', 'a')
    UNION ALL
    SELECT 'another', size_bytes FROM mart.workload_cells(archive => 'sdsc')
)

SELECT asked_for, sum(size_bytes)::bigint AS found
FROM answers
GROUP BY asked_for
ORDER BY asked_for
