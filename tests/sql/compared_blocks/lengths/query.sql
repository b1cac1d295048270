SELECT 'days' AS asked_for, block_us, busy_us, block_at
FROM mart.compared_blocks('llnl', 'dkrz')
WHERE direction = 'all' AND side = 'a'
UNION ALL
SELECT 'half days', block_us, busy_us, block_at
FROM mart.compared_blocks('llnl', 'dkrz', block_s => 43200)
WHERE direction = 'all' AND side = 'a'
UNION ALL
SELECT 'nothing', block_us, busy_us, block_at
FROM mart.compared_blocks('llnl', 'dkrz', block_s => 0)
WHERE direction = 'all' AND side = 'a'
ORDER BY 1, 4
