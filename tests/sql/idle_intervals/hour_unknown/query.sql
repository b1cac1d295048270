SELECT
    'all' AS asked_for,
    archive,
    started_local,
    idle_s,
    hour_unknown_count
FROM mart.idle_intervals()
UNION ALL
SELECT
    'nft gets' AS asked_for,
    archive,
    started_local,
    idle_s,
    hour_unknown_count
FROM mart.idle_intervals('llnl', interface => 'nft', direction => 'get')
ORDER BY asked_for, archive, started_local
