WITH answers (asked_for, size_bytes) AS (
    SELECT 'archive', size_bytes FROM mart.envelope_strata(archive => 'llnl', stratum_size => 1)
    UNION ALL
    SELECT 'since', size_bytes FROM mart.envelope_strata(since => '2000-01-15 12:00', stratum_size => 1)
    UNION ALL
    SELECT 'until', size_bytes FROM mart.envelope_strata(until => '2000-01-15 13:00', stratum_size => 1)
    UNION ALL
    SELECT 'interface', size_bytes FROM mart.envelope_strata(interface => 'nft', stratum_size => 1)
    UNION ALL
    SELECT 'direction', size_bytes FROM mart.envelope_strata(direction => 'get', stratum_size => 1)
    UNION ALL
    SELECT 'client', size_bytes FROM mart.envelope_strata(client => 'cray', stratum_size => 1)
    UNION ALL
    SELECT 'class_of_service', size_bytes FROM mart.envelope_strata(class_of_service => 'a', stratum_size => 1)
    UNION ALL
    SELECT 'all', size_bytes
    FROM mart.envelope_strata('llnl', '2000-01-15 12:00', '2000-01-15 13:00', 'nft', 'get', 'cray', 'a', 1)
    UNION ALL
    SELECT 'nothing', size_bytes FROM mart.envelope_strata(archive => 'sdsc', stratum_size => 1)
)

SELECT asked_for, string_agg(size_bytes::text, ' ' ORDER BY size_bytes) AS found
FROM answers
GROUP BY asked_for
ORDER BY asked_for
