CREATE FUNCTION mart.selected_requests(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    timezone text,
    source text,
    transfer_id bigint,
    twin_transfer_id bigint,
    open_id bigint,
    stage_id bigint,
    job_id bigint,
    start_id bigint,
    reported_by text,
    missing text,
    interface text,
    direction text,
    user_id integer,
    client text,
    class_of_service text,
    file_key bigint,
    capability_key bigint,
    persona integer,
    size_bytes bigint,
    duration_s double precision,
    open_s double precision,
    stage_s double precision,
    waited_s double precision,
    clock_step_s double precision,
    is_failed boolean,
    is_size_saturated boolean,
    is_of_parts boolean,
    is_time_ambiguous boolean,
    is_time_of_day_unknown boolean,
    is_wait_below_clock boolean,
    is_wait_negative boolean,
    is_staging_bypassed boolean,
    is_cached boolean,
    cache_evidence text,
    is_joined boolean,
    is_warm_up boolean,
    submitted_at timestamptz,
    opened_at timestamptz,
    staged_at timestamptz,
    started_at timestamptz,
    ended_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

SELECT
    requests.archive,
    requests.kind,
    requests.timezone,
    requests.source,
    requests.transfer_id,
    requests.twin_transfer_id,
    requests.open_id,
    requests.stage_id,
    requests.job_id,
    requests.start_id,
    requests.reported_by,
    requests.missing,
    requests.interface,
    requests.direction,
    requests.user_id,
    requests.client,
    requests.class_of_service,
    requests.file_key,
    requests.capability_key,
    requests.persona,
    requests.size_bytes,
    requests.duration_s,
    requests.open_s,
    requests.stage_s,
    requests.waited_s,
    requests.clock_step_s,
    requests.is_failed,
    requests.is_size_saturated,
    requests.is_of_parts,
    requests.is_time_ambiguous,
    requests.is_time_of_day_unknown,
    requests.is_wait_below_clock,
    requests.is_wait_negative,
    requests.is_staging_bypassed,
    requests.is_cached,
    requests.cache_evidence,
    requests.is_joined,
    requests.is_warm_up,
    requests.submitted_at,
    requests.opened_at,
    requests.staged_at,
    requests.started_at,
    requests.ended_at
FROM
    mart.requests_between(since => selected_requests.since, until => selected_requests.until) AS requests
WHERE
    (selected_requests.archive IS NULL OR requests.archive = selected_requests.archive)
    AND (selected_requests.interface IS NULL OR requests.interface = selected_requests.interface)
    AND (selected_requests.direction IS NULL OR requests.direction = selected_requests.direction)
    AND (selected_requests.client IS NULL OR requests.client = selected_requests.client)
    AND (
        selected_requests.class_of_service IS NULL
        OR requests.class_of_service = selected_requests.class_of_service
    )

$function$;
