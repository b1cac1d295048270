CREATE FUNCTION mart.requests_between(
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL
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
    found.archive,
    found.kind,
    found.timezone,
    found.source,
    found.transfer_id,
    found.twin_transfer_id,
    found.open_id,
    found.stage_id,
    found.job_id,
    found.start_id,
    found.reported_by,
    found.missing,
    found.interface,
    found.direction,
    found.user_id,
    found.client,
    found.class_of_service,
    found.file_key,
    found.capability_key,
    found.persona,
    found.size_bytes,
    found.duration_s,
    found.open_s,
    found.stage_s,
    found.waited_s,
    found.clock_step_s,
    found.is_failed,
    found.is_size_saturated,
    found.is_of_parts,
    found.is_time_ambiguous,
    found.is_time_of_day_unknown,
    found.is_wait_below_clock,
    found.is_wait_negative,
    found.is_staging_bypassed,
    found.is_cached,
    found.cache_evidence,
    found.is_joined,
    found.is_warm_up,
    found.submitted_at,
    found.opened_at,
    found.staged_at,
    found.started_at,
    found.ended_at
FROM mart.requests_and_transfers AS found
WHERE
    -- Unlike `or`, `coalesce` also prunes partitions by times that are known only at execution (now() - ...).
    found.ended_at >= coalesce(requests_between.since, timestamptz '-infinity')
    AND found.ended_at < coalesce(requests_between.until, timestamptz 'infinity')
    -- A request that reports a transfer ends with it. The range is repeated, because the planner does not
    -- conclude from equal times that requests outside the range need not be read.
    AND NOT EXISTS (
        SELECT 1 FROM mart.reported_transfers AS reported
        WHERE
            reported.archive_id = found.archive_id
            AND reported.ended_at = found.ended_at
            AND reported.ended_at >= coalesce(requests_between.since, timestamptz '-infinity')
            AND reported.ended_at < coalesce(requests_between.until, timestamptz 'infinity')
            AND reported.transfer_id = found.single_transfer_id
    )

$function$;
