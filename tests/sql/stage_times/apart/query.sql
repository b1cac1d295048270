SELECT * FROM mart.stage_times()
ORDER BY archive, interface, stage_from_s
