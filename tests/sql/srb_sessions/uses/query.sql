SELECT
    srb_session_id, archive, source, interface, open_type, storage_type, use, user_id, client, file_key,
    read_count, read_bytes, write_count, written_bytes, seek_count, bytes_per_read, bytes_per_write, open_s, session_s,
    is_failed, is_time_ambiguous, is_time_of_day_unknown, opened_at, closed_at
FROM mart.srb_sessions
ORDER BY srb_session_id
