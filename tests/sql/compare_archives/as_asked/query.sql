WITH days AS (
    SELECT * FROM mart.compare_archives('llnl', 'dkrz')
),

more AS (
    SELECT * FROM mart.compare_archives('llnl', 'dkrz', replicate_count => 200)
),

longer AS (
    SELECT * FROM mart.compare_archives('llnl', 'dkrz', block_s => 172800, replicate_count => 2)
)

SELECT
    days.direction,
    days.quantity,
    days.statistic,
    days.block_count,
    longer.block_count AS longer_block_count,
    days.p_value = more.p_value AS is_200
FROM days
INNER JOIN more USING (direction, quantity, statistic)
INNER JOIN longer USING (direction, quantity, statistic)
WHERE direction = 'get' AND quantity = 'transfer time'
ORDER BY 3
