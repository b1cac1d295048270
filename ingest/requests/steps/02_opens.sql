-- The opens in and around the range, including failed opens.
SELECT
    opens.id,
    opens.archive_id,
    opens.source_id,
    opens.line_hash,
    opens.occurrence,
    opens.interface,
    opens.direction,
    opens.user_id,
    opens.host_id,
    opens.class_of_service,
    opens.file_key,
    opens.open_s,
    opens.is_failed,
    opens.is_cached,
    opens.is_time_ambiguous,
    opens.opened_at,
    sources.is_counted
FROM core.opens
INNER JOIN ledger.sources ON opens.source_id = sources.id
WHERE
    opens.archive_id = %(archive_id)s
    AND opens.opened_at >= %(read_since)s
    AND opens.opened_at < %(read_until)s
    AND NOT opens.is_time_of_day_unknown
