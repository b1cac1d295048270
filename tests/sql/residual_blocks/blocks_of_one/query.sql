SELECT block_size, block, transfer_count, mean_bytes, is_full
FROM mart.residual_blocks(block_size => 1)
ORDER BY block
