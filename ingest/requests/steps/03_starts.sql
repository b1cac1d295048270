-- The starts of transfers in and around the range, each with the time of the same user's next start for the
-- same file.
SELECT
    transfer_starts.id,
    transfer_starts.archive_id,
    transfer_starts.source_id,
    transfer_starts.interface,
    transfer_starts.direction,
    transfer_starts.user_id,
    transfer_starts.host_id,
    transfer_starts.class_of_service,
    transfer_starts.file_key,
    transfer_starts.capability_key,
    transfer_starts.size_bytes,
    transfer_starts.is_cached,
    transfer_starts.is_time_ambiguous,
    transfer_starts.began_at,
    sources.is_counted,
    lead(transfer_starts.began_at) OVER (
        PARTITION BY
            transfer_starts.source_id,
            transfer_starts.host_id,
            transfer_starts.user_id,
            transfer_starts.file_key
        ORDER BY transfer_starts.began_at, transfer_starts.line_hash, transfer_starts.occurrence
    ) AS next_began_at
FROM core.transfer_starts
INNER JOIN ledger.sources ON transfer_starts.source_id = sources.id
WHERE
    transfer_starts.archive_id = %(archive_id)s
    AND transfer_starts.began_at >= %(read_since)s
    AND transfer_starts.began_at < %(read_until)s
