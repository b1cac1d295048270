SELECT side, direction, block_us, busy_us, idle_us, block_at, span_began_at, span_ended_at
FROM mart.compared_blocks('llnl', 'dkrz')
ORDER BY side, block_at, direction
