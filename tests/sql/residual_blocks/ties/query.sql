SELECT direction, block, transfer_count, mean_residual_s
FROM mart.residual_blocks(stratum_size => 4, block_size => 2)
ORDER BY direction, block
