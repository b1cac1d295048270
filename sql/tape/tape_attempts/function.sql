CREATE FUNCTION mart.tape_attempts(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    retry_s double precision DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    timezone text,
    operation_id bigint,
    interface text,
    direction text,
    requester text,
    class_of_service text,
    vsn text,
    drive text,
    size_bytes bigint,
    is_failed boolean,
    is_retried boolean,
    is_made_good boolean,
    retried_at timestamptz,
    made_good_at timestamptz,
    ended_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- Retries may end after the range.
WITH operations AS (
    SELECT
        tape_operations.*,
        CASE tape_operations.task WHEN 'stage' THEN 'get' ELSE 'put' END AS direction
    FROM mart.tape_operations
    WHERE
        (tape_attempts.archive IS NULL OR tape_operations.archive = tape_attempts.archive)
        AND tape_operations.last_event_at >= coalesce(tape_attempts.since, timestamptz '-infinity')
        AND tape_operations.last_event_at
        <= coalesce(
            tape_attempts.until
            + make_interval(secs => least(greatest(coalesce(tape_attempts.retry_s, 86400), 0), 3e9)),
            timestamptz 'infinity'
        )
        AND tape_attempts.client IS NULL
),

followed AS (
    SELECT
        operations.*,
        min(operations.last_event_at) OVER later AS next_at,
        min(operations.last_event_at) FILTER (WHERE NOT operations.is_failed) OVER later AS success_at
    FROM operations
    WINDOW
        later AS (
            PARTITION BY
                operations.archive,
                operations.task,
                operations.requester,
                operations.capability_key,
                operations.copy_number,
                operations.fragment_number
            ORDER BY operations.last_event_at DESC, operations.operation_id DESC
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        )
),

-- How far the logs were read. Later retries are not known yet.
log_ends AS (
    SELECT
        source_states.archive,
        max(source_states.last_event_at) AS ends_at
    FROM mart.source_states
    WHERE source_states.is_counted
    GROUP BY source_states.archive
),

timed AS (
    SELECT
        followed.*,
        coalesce(
            extract(EPOCH FROM log_ends.ends_at - followed.last_event_at)::double precision
            >= coalesce(tape_attempts.retry_s, 86400),
            TRUE
        ) AS is_followed,
        coalesce(
            extract(EPOCH FROM followed.next_at - followed.last_event_at)::double precision
            <= coalesce(tape_attempts.retry_s, 86400),
            FALSE
        ) AS has_retry,
        coalesce(
            extract(EPOCH FROM followed.success_at - followed.last_event_at)::double precision
            <= coalesce(tape_attempts.retry_s, 86400),
            FALSE
        ) AS has_success
    FROM followed
    INNER JOIN log_ends ON followed.archive = log_ends.archive
    WHERE
        followed.last_event_at < coalesce(tape_attempts.until, timestamptz 'infinity')
        AND (tape_attempts.interface IS NULL OR followed.interface = tape_attempts.interface)
        AND (tape_attempts.direction IS NULL OR followed.direction = tape_attempts.direction)
        AND (
            tape_attempts.class_of_service IS NULL
            OR followed.class_of_service = tape_attempts.class_of_service
        )
)

SELECT
    timed.archive,
    timed.kind,
    timed.timezone,
    timed.operation_id,
    timed.interface,
    timed.direction,
    timed.requester,
    timed.class_of_service,
    timed.vsn,
    timed.drive,

    timed.size_bytes,
    timed.is_failed,
    CASE WHEN timed.is_failed AND (timed.has_retry OR timed.is_followed) THEN timed.has_retry END
        AS is_retried,
    CASE WHEN timed.is_failed AND (timed.has_success OR timed.is_followed) THEN timed.has_success END
        AS is_made_good,

    CASE WHEN timed.is_failed AND timed.has_retry THEN timed.next_at END AS retried_at,
    CASE WHEN timed.is_failed AND timed.has_success THEN timed.success_at END AS made_good_at,
    timed.last_event_at AS ended_at
FROM timed

$function$;
