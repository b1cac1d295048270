WITH asked AS (
    SELECT
        'nft' AS asked_for,
        *
    FROM mart.idle_windows(interface => 'nft')
    UNION ALL
    SELECT
        'sp2' AS asked_for,
        *
    FROM mart.idle_windows(client => 'sp2')
    UNION ALL
    SELECT
        'before' AS asked_for,
        *
    FROM mart.idle_windows(until => '2000-01-13 12:00Z')
)

SELECT
    asked_for,
    archive,
    starts_on,
    window_count,
    idle_count,
    idle_ratio,
    explained_count,
    unexplained_count,
    repeated_count,
    hour_unknown_count,
    is_edge
FROM asked
ORDER BY asked_for, archive, starts_on
