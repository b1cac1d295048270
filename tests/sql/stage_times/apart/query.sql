SELECT * FROM mart.stage_times()
WHERE stage_count + failed_count > 0
ORDER BY archive, interface, stage_from_s
