SELECT
    log_file_id, archive, source, format, path, line_count, loaded_count, held_count, ignored_count,
    rejected_count, is_counted, log_date
FROM mart.log_files
ORDER BY log_file_id
