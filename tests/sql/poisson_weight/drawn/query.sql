SELECT
    block_number,
    string_agg(mart.poisson_weight(replicate, block_number)::text, ' ' ORDER BY replicate) AS weights
FROM unnest(ARRAY[0, 1, 11, 893980800, -315619200]) AS block_number
CROSS JOIN generate_series(1, 12) AS replicate
GROUP BY block_number
ORDER BY block_number
