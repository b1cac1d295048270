SELECT direction, block, transfer_count, mean_bytes, mean_residual_s, p99_residual_s
FROM mart.residual_blocks()
ORDER BY direction
