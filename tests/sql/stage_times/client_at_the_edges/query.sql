SELECT stage_from_s, stage_count
FROM mart.stage_times(since => '2000-01-15 12:00', until => '2000-01-15 13:00', client => 'cray')
WHERE stage_count + failed_count > 0
ORDER BY stage_from_s
