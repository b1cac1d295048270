SELECT reported_on, interface, figure, reported, found, ratio, has_log
FROM mart.reconciliation
WHERE is_every_system AND (interface IS NOT NULL OR figure <> 'put_count')
ORDER BY reported_on, figure
