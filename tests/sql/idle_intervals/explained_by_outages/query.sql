SELECT started_at, idle_s, explained_s, explained_ratio, is_explained, outage_notes
FROM mart.idle_intervals()
ORDER BY started_at
