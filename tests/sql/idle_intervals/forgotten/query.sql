SELECT
    archive,
    next_transfer_id,
    idle_s / 3600 AS idle_hours,
    is_edge,
    started_at
FROM mart.idle_intervals(since => '2000-01-10', until => '2000-01-16')
ORDER BY archive, started_at
