CREATE FUNCTION mart.retries(
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
    transfer_id bigint,
    interface text,
    direction text,
    user_id integer,
    client text,
    class_of_service text,
    size_bytes bigint,
    is_retried boolean,
    is_made_good boolean,
    retried_at timestamptz,
    made_good_at timestamptz,
    ended_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- Not materialized: most logs have few failures, so few of the requests are kept.
WITH requests AS NOT MATERIALIZED (
    SELECT
        selected.*,
        -- If the user is not known, UniTree's number of the job is used instead. Without either, nothing
        -- identifies a retry.
        coalesce(selected.user_id, -selected.persona::bigint) AS user_number
    FROM
        mart.selected_requests(
            archive => retries.archive,
            since => retries.since,
            until => retries.until,
            interface => retries.interface,
            direction => retries.direction,
            client => retries.client,
            class_of_service => retries.class_of_service
        ) AS selected
    WHERE selected.transfer_id IS NOT NULL
),

-- Materialized, because it is read twice, and each time all months of requests would be read for it.
failed AS MATERIALIZED (
    SELECT requests.*
    FROM requests
    WHERE requests.is_failed
),

-- What a retry has in common with the failed transfer: user, direction and file, or UniTree's job, which
-- retries by itself. A size identifies only files without a key, but their retry may have one.
ties AS NOT MATERIALIZED (
    SELECT
        requests.archive,
        requests.transfer_id,
        requests.is_failed,
        requests.file_key IS NULL OR tie.tied_by <> 'size' AS is_own,
        tie.*,
        requests.ended_at
    FROM requests
    CROSS JOIN
        LATERAL (
            VALUES
            ('file', requests.direction, requests.user_number, requests.file_key),
            ('size', requests.direction, requests.user_number, requests.size_bytes),
            ('job', '', 0, requests.job_id)
        ) AS tie (tied_by, direction, user_number, tie_number)
    -- Numbers are looked up faster than the rows below, so most requests are left out here.
    WHERE
        requests.file_key IN (SELECT failed.file_key FROM failed)
        OR requests.size_bytes IN (SELECT failed.size_bytes FROM failed)
        OR requests.job_id IN (SELECT failed.job_id FROM failed)
),

of_failed AS NOT MATERIALIZED (
    SELECT DISTINCT
        failed.archive,
        tie.*
    FROM failed
    CROSS JOIN
        LATERAL (
            VALUES
            ('file', failed.direction, failed.user_number, failed.file_key),
            (
                'size',
                failed.direction,
                failed.user_number,
                CASE WHEN failed.file_key IS NULL THEN failed.size_bytes END
            ),
            ('job', '', 0, failed.job_id)
        ) AS tie (tied_by, direction, user_number, tie_number)
    WHERE tie.user_number IS NOT NULL AND tie.tie_number IS NOT NULL
),

-- All attempts that have something in common with a failed transfer. With IS TRUE, they are looked up in a
-- hash table. As a join, they may be compared one by one, because the planner expects few.
attempts AS (
    SELECT
        ties.*,
        row(ties.archive, ties.tied_by, ties.direction, ties.user_number, ties.tie_number) AS tie
    FROM ties
    WHERE
        ties.user_number IS NOT NULL
        AND ties.tie_number IS NOT NULL
        AND (
            (ties.archive, ties.tied_by, ties.direction, ties.user_number, ties.tie_number)
            IN (SELECT of_failed.* FROM of_failed)
        ) IS TRUE
),

-- Logs show whole seconds, so the next transfer that succeeded may have ended in the same second.
followed AS (
    SELECT
        attempts.*,
        lead(attempts.ended_at) OVER (
            PARTITION BY attempts.tie ORDER BY attempts.ended_at, attempts.transfer_id
        ) AS next_at,
        min(attempts.ended_at) FILTER (WHERE NOT attempts.is_failed) OVER (
            PARTITION BY attempts.tie ORDER BY attempts.ended_at DESC
        ) AS success_at
    FROM attempts
),

-- Materialized, so that it is not computed again for each failed transfer, if the planner expects few of
-- them.
found AS MATERIALIZED (
    SELECT
        followed.transfer_id,
        min(least(followed.next_at, followed.success_at)) AS next_at,
        min(followed.success_at) AS success_at
    FROM followed
    WHERE followed.is_own
    GROUP BY followed.transfer_id
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
        failed.*,
        found.transfer_id IS NOT NULL
        AND coalesce(
            extract(EPOCH FROM least(log_ends.ends_at, retries.until) - failed.ended_at)::double precision
            >= coalesce(retries.retry_s, 86400),
            TRUE
        ) AS is_followed,
        CASE
            WHEN
                extract(EPOCH FROM found.next_at - failed.ended_at)::double precision
                <= coalesce(retries.retry_s, 86400)
                THEN found.next_at
        END AS retried_at,
        CASE
            WHEN
                extract(EPOCH FROM found.success_at - failed.ended_at)::double precision
                <= coalesce(retries.retry_s, 86400)
                THEN found.success_at
        END AS made_good_at
    FROM failed
    LEFT JOIN found ON failed.transfer_id = found.transfer_id
    LEFT JOIN log_ends ON failed.archive = log_ends.archive
)

SELECT
    timed.archive,
    timed.kind,
    timed.timezone,
    timed.transfer_id,
    timed.interface,
    timed.direction,
    timed.user_id,
    timed.client,
    timed.class_of_service,

    timed.size_bytes,
    CASE WHEN timed.retried_at IS NOT NULL OR timed.is_followed THEN timed.retried_at IS NOT NULL END
        AS is_retried,
    CASE WHEN timed.made_good_at IS NOT NULL OR timed.is_followed THEN timed.made_good_at IS NOT NULL END
        AS is_made_good,

    timed.retried_at,
    timed.made_good_at,
    timed.ended_at
FROM timed

$function$;
