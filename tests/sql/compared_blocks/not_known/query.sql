SELECT side, direction, busy_us, idle_us
FROM mart.compared_blocks('llnl', 'dkrz')
ORDER BY side, direction
