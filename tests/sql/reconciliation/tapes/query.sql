SELECT archive, figure, reported, found, has_log
FROM mart.reconciliation
WHERE is_every_system
ORDER BY archive, figure
