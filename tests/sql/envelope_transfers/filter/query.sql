SELECT
    archive,
    kind,
    interface,
    direction,
    size_bytes,
    duration_s,
    is_filtered,
    count(*) OVER (PARTITION BY group_number) AS group_count,
    ended_at
FROM mart.envelope_transfers()
ORDER BY archive, size_bytes
