SELECT archive, last_transfer_id, next_transfer_id, idle_s, is_edge, started_at, ended_at
FROM mart.idle_intervals(since => '2000-01-15', until => '2000-01-16')
ORDER BY archive, started_at
