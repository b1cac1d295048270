SELECT stage_from_s, stage_to_s, stage_count, failed_count, running_ratio
FROM mart.stage_times()
WHERE stage_count + failed_count > 0
ORDER BY stage_from_s
