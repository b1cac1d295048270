-- The transfers in and around the range. Transfers of which only the day is known are left out, because they
-- cannot be matched with other lines. The same applies to opens and stages.
SELECT
    transfers.id,
    transfers.archive_id,
    transfers.source_id,
    transfers.line_hash,
    transfers.occurrence,
    transfers.interface,
    transfers.direction,
    transfers.user_id,
    transfers.host_id,
    transfers.class_of_service,
    transfers.file_key,
    transfers.persona,
    transfers.size_bytes,
    transfers.duration_s,
    transfers.open_s,
    sources.is_counted,
    sources.is_counted OR (transfers.is_failed AND sources.failures_as IS NOT NULL) AS is_request_counted,
    transfers.is_failed,
    transfers.is_size_saturated,
    transfers.is_time_ambiguous,
    transfers.started_at,
    transfers.ended_at
FROM core.transfers
INNER JOIN ledger.sources ON transfers.source_id = sources.id
WHERE
    transfers.archive_id = %(archive_id)s
    AND transfers.ended_at >= %(read_since)s
    AND transfers.ended_at < %(read_until)s
    AND NOT transfers.is_time_of_day_unknown
