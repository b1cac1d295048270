SELECT archive, kind, direction, size_bytes, duration_s, is_filtered, group_number, ended_at
FROM mart.envelope_transfers()
ORDER BY archive, size_bytes
