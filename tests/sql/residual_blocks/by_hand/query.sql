SELECT
    direction,
    block_size,
    block,
    transfer_count,
    smallest_bytes,
    mean_bytes,
    largest_bytes,
    mean_residual_s,
    p99_residual_s,
    is_outlier,
    is_full
FROM mart.residual_blocks(stratum_size => 3, block_size => 3)
ORDER BY direction, block
