-- Null and what is below 1 give the default.
WITH answers (asked_for, direction, block_size, block, transfer_count, is_full) AS (
    SELECT '-1', direction, block_size, block, transfer_count, is_full
    FROM mart.residual_blocks(block_size => -1)
    UNION ALL
    SELECT '0', direction, block_size, block, transfer_count, is_full
    FROM mart.residual_blocks(block_size => 0)
    UNION ALL
    SELECT 'null', direction, block_size, block, transfer_count, is_full
    FROM mart.residual_blocks()
)

SELECT *
FROM answers
ORDER BY asked_for, direction, block
