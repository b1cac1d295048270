SELECT reported_on, figure, found
FROM mart.reconciliation
WHERE is_every_system AND interface = 'hsi'
ORDER BY reported_on, figure
