-- The stages in and around the range that a request may have waited for.
SELECT
    id,
    source_id,
    line_hash,
    occurrence,
    user_id,
    host_id,
    file_key,
    persona,
    size_bytes,
    duration_s,
    queue_s,
    is_time_ambiguous,
    staged_at
FROM core.stages
WHERE
    archive_id = %(archive_id)s
    AND staged_at >= %(read_since)s
    AND staged_at < %(read_until)s
    AND num_nonnulls(persona, file_key) > 0
    AND NOT is_failed
    AND NOT is_time_of_day_unknown
