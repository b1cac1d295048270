SELECT
    mart.poisson_weight(replicate, 7) AS weight,
    count(*) AS replicate_count
FROM generate_series(1, 100000) AS replicate
GROUP BY weight
ORDER BY weight
