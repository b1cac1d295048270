CREATE FUNCTION mart.selected_transfers(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL
) RETURNS TABLE (
    transfer_id bigint,
    archive text,
    kind text,
    source text,
    interface text,
    direction text,
    operation text,
    user_id integer,
    client text,
    class_of_service text,
    file_key bigint,
    persona integer,
    server text,
    status_code integer,
    status_text text,
    size_bytes bigint,
    duration_s double precision,
    open_s double precision,
    seek_s double precision,
    rate_bytes_per_s double precision,
    is_failed boolean,
    is_failure_logged boolean,
    is_time_ambiguous boolean,
    is_time_of_day_unknown boolean,
    is_duration_coarse boolean,
    is_duration_below_clock boolean,
    is_size_saturated boolean,
    is_rate_inconsistent boolean,
    is_of_parts boolean,
    started_at timestamptz,
    ended_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- Unlike `or`, `coalesce` also prunes partitions by times that are known only at execution (now() - ...).
SELECT
    transfers.transfer_id,
    transfers.archive,
    transfers.kind,
    transfers.source,
    transfers.interface,
    transfers.direction,
    transfers.operation,
    transfers.user_id,
    transfers.client,
    transfers.class_of_service,
    transfers.file_key,
    transfers.persona,
    transfers.server,
    transfers.status_code,
    transfers.status_text,
    transfers.size_bytes,
    transfers.duration_s,
    transfers.open_s,
    transfers.seek_s,
    transfers.rate_bytes_per_s,
    transfers.is_failed,
    transfers.is_failure_logged,
    transfers.is_time_ambiguous,
    transfers.is_time_of_day_unknown,
    transfers.is_duration_coarse,
    transfers.is_duration_below_clock,
    transfers.is_size_saturated,
    transfers.is_rate_inconsistent,
    transfers.is_of_parts,
    transfers.started_at,
    transfers.ended_at
FROM mart.transfers
WHERE
    (selected_transfers.archive IS NULL OR transfers.archive = selected_transfers.archive)
    AND transfers.ended_at >= coalesce(selected_transfers.since, timestamptz '-infinity')
    AND transfers.ended_at < coalesce(selected_transfers.until, timestamptz 'infinity')
    AND (selected_transfers.interface IS NULL OR transfers.interface = selected_transfers.interface)
    AND (selected_transfers.direction IS NULL OR transfers.direction = selected_transfers.direction)
    AND (selected_transfers.client IS NULL OR transfers.client = selected_transfers.client)
    AND (
        selected_transfers.class_of_service IS NULL
        OR transfers.class_of_service = selected_transfers.class_of_service
    )

$function$;
