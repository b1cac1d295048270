-- Opens without a transfer, including failed opens.
INSERT INTO core.requests (
    archive_id, ended_at, open_id, source_id, interface, direction, user_id, host_id, class_of_service,
    file_key, open_s, is_counted, is_failed, is_size_saturated, is_time_ambiguous, submitted_at,
    opened_at, is_cached
)
SELECT
    opens.archive_id,
    opens.opened_at AS ended_at,
    opens.id AS open_id,
    opens.source_id,
    opens.interface,
    opens.direction,
    opens.user_id,
    opens.host_id,
    opens.class_of_service,
    opens.file_key,
    opens.open_s,
    opens.is_counted,
    opens.is_failed,
    FALSE AS is_size_saturated,
    opens.is_time_ambiguous,
    opens.opened_at - make_interval(secs => opens.open_s) AS submitted_at,
    opens.opened_at,
    opens.is_cached
FROM opens
WHERE
    NOT EXISTS (SELECT FROM open_matches WHERE open_matches.open_id = opens.id)
    AND opens.opened_at >= %(since)s
    AND opens.opened_at < %(until)s
