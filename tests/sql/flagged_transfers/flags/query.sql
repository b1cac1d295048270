SELECT * FROM mart.flagged_transfers() ORDER BY archive DESC, interface DESC, flagged_count, flag
