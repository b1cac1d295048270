SELECT archive, kind, idle_s, started_at, ended_at, started_local, ended_local
FROM mart.idle_intervals()
WHERE idle_s < 86400
ORDER BY archive, started_at
