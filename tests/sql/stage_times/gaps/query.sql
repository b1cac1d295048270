SELECT interface, stage_from_s, stage_to_s, stage_count, failed_count, running_ratio
FROM mart.stage_times()
ORDER BY interface, stage_from_s
