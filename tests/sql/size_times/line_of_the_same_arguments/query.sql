SELECT size_from_bytes, transfer_count, min_duration_s, envelope_s
FROM mart.size_times('llnl', '2000-01-15 12:00', '2000-01-15 13:00', 'nft', 'get', 'cray', 'a')
ORDER BY size_from_bytes
