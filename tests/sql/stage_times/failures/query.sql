SELECT archive, stage_from_s, stage_count, failed_count FROM mart.stage_times() ORDER BY archive, stage_from_s
