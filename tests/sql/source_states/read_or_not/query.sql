SELECT source, file_count, line_count, rejected_ratio
FROM mart.source_states
ORDER BY source
