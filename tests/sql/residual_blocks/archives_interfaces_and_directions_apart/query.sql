SELECT
    archive,
    kind,
    interface,
    direction,
    block,
    transfer_count,
    smallest_bytes,
    largest_bytes,
    mean_residual_s,
    is_full
FROM mart.residual_blocks(stratum_size => 1, block_size => 2)
ORDER BY archive, interface, direction, block
