-- The lower edge is in the bin, the upper one in the next.
SELECT
    size_from_bytes,
    size_to_bytes,
    scale(size_from_bytes) + scale(size_to_bytes) AS decimal_count,
    transfer_count
FROM mart.size_times()
ORDER BY size_from_bytes
