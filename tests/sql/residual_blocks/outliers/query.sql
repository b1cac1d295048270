WITH answers (keep_outliers, direction, block, transfer_count, smallest_bytes, largest_bytes, is_outlier, is_full) AS (
    SELECT 'no', direction, block, transfer_count, smallest_bytes, largest_bytes, is_outlier, is_full
    FROM mart.residual_blocks(block_size => 4)
    UNION ALL
    SELECT 'yes', direction, block, transfer_count, smallest_bytes, largest_bytes, is_outlier, is_full
    FROM mart.residual_blocks(block_size => 6, keep_outliers => TRUE)
    UNION ALL
    SELECT 'null', direction, block, transfer_count, smallest_bytes, largest_bytes, is_outlier, is_full
    FROM mart.residual_blocks(block_size => 4, keep_outliers => NULL, direction => 'put')
)

SELECT *
FROM answers
ORDER BY keep_outliers, direction, block
