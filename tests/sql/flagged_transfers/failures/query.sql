SELECT archive, interface, flagged_count, transfer_count, flagged_ratio
FROM mart.flagged_transfers()
WHERE flag = 'failed'
ORDER BY archive, interface
