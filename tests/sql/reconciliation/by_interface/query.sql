SELECT archive, kind, system, is_every_system, interface, figure, reported, found, difference, ratio, has_log
FROM mart.reconciliation
WHERE archive = 'llnl'
ORDER BY is_every_system, system, interface NULLS FIRST, figure
