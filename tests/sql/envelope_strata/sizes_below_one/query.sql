-- Null and what is below 1 give the default.
WITH answers (asked_for, direction, stratum_size, stratum, transfer_count, is_full) AS (
    SELECT '-1', direction, stratum_size, stratum, transfer_count, is_full
    FROM mart.envelope_strata(stratum_size => -1)
    UNION ALL
    SELECT '0', direction, stratum_size, stratum, transfer_count, is_full
    FROM mart.envelope_strata(stratum_size => 0)
    UNION ALL
    SELECT '1', direction, stratum_size, stratum, transfer_count, is_full
    FROM mart.envelope_strata(stratum_size => 1, direction => 'get')
    WHERE stratum > 24
    UNION ALL
    SELECT 'null', direction, stratum_size, stratum, transfer_count, is_full
    FROM mart.envelope_strata()
)

SELECT *
FROM answers
ORDER BY asked_for, direction, stratum
