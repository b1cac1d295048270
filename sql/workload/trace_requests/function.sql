CREATE FUNCTION mart.trace_requests(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    failed text DEFAULT NULL,
    retry_s double precision DEFAULT NULL,
    files text DEFAULT NULL,
    zero_sizes text DEFAULT NULL,
    largest_bytes bigint DEFAULT NULL,
    unknown_origins text DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    place bigint,
    interface text,
    direction text,
    user_id integer,
    user_number bigint,
    file_number bigint,
    origin text,
    size_bytes bigint,
    transfer_id bigint,
    duration_s double precision,
    is_failed boolean,
    is_cached boolean,
    is_origin_assumed boolean,
    is_file_known boolean,
    left_out text,
    submitted_at timestamptz,
    ended_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH requests AS (
    SELECT
        requests.archive,
        requests.kind,
        requests.interface,
        requests.direction,
        requests.user_id,
        requests.file_key,
        requests.stage_id,
        requests.transfer_id,
        CASE
            WHEN requests.size_bytes = 0 AND coalesce(trace_requests.zero_sizes, 'one') = 'one' THEN 1
            ELSE requests.size_bytes
        END AS size_bytes,
        requests.duration_s,
        requests.is_failed,
        requests.is_size_saturated,
        requests.is_of_parts,
        requests.is_cached,
        NOT coalesce(
            requests.is_cached, coalesce(trace_requests.unknown_origins, 'disk') <> 'tape'
        ) AS is_from_tape,
        -- If only the end of a request is known, it has no time of submission.
        coalesce(requests.submitted_at, requests.started_at) AS submitted_at,
        requests.ended_at
    FROM
        mart.selected_requests(
            archive => trace_requests.archive,
            since => trace_requests.since,
            until => trace_requests.until,
            interface => trace_requests.interface,
            direction => trace_requests.direction,
            client => trace_requests.client,
            class_of_service => trace_requests.class_of_service
        ) AS requests
),

-- Materialized, so that they are not looked for again for each request.
retries AS MATERIALIZED (
    SELECT
        found.transfer_id,
        found.made_good_at
    FROM
        mart.retries(
            archive => trace_requests.archive,
            since => trace_requests.since,
            until => trace_requests.until,
            interface => trace_requests.interface,
            direction => trace_requests.direction,
            client => trace_requests.client,
            class_of_service => trace_requests.class_of_service,
            retry_s => trace_requests.retry_s
        ) AS found
),

retried AS (
    SELECT
        requests.*,
        retries.made_good_at
    FROM requests
    LEFT JOIN retries ON requests.transfer_id = retries.transfer_id
),

-- The first reason that applies.
judged AS (
    SELECT
        retried.*,
        CASE
            WHEN retried.transfer_id IS NULL THEN 'no transfer'
            WHEN retried.is_of_parts THEN 'part of a file'
            WHEN
                retried.is_failed
                AND CASE trace_requests.failed
                    WHEN 'all' THEN FALSE
                    WHEN 'none' THEN TRUE
                    ELSE retried.made_good_at IS NULL
                END
                THEN 'failed'
            WHEN retried.size_bytes IS NULL THEN 'unknown size'
            WHEN retried.is_size_saturated THEN 'saturated size'
            WHEN retried.size_bytes = 0 AND trace_requests.zero_sizes = 'drop' THEN 'zero size'
            WHEN retried.size_bytes > trace_requests.largest_bytes THEN 'too large'
            WHEN retried.submitted_at IS NULL THEN 'unknown time'
        END AS unfit_for,
        CASE WHEN trace_requests.files = 'key' THEN retried.file_key END AS known_key,
        -- A source is a request that puts a file on disk for later requests; a failed put is not one.
        retried.direction = 'put' AND NOT retried.is_failed AS is_source
    FROM retried
),

-- A get looks for its file when it is submitted, and finds files that were put completely by then.
looking AS (
    SELECT
        judged.*,
        CASE
            WHEN judged.is_source THEN greatest(judged.submitted_at, judged.ended_at)
            ELSE judged.submitted_at
        END AS looked_for_at
    FROM judged
),

-- If keys identify files, an earlier request for the same file shows where the file was, because that request
-- put or found it.
assumed AS (
    SELECT
        looking.*,
        looking.direction = 'get'
        AND looking.is_cached IS NULL
        AND NOT coalesce(
            looking.known_key IS NOT NULL
            AND bool_or(looking.is_source OR looking.is_cached IS NOT NULL) FILTER (
                WHERE looking.unfit_for IS NULL
            ) OVER (
                PARTITION BY looking.archive, looking.known_key, looking.size_bytes
                ORDER BY looking.looked_for_at
            ),
            FALSE
        ) AS is_origin_assumed
    FROM looking
),

sources AS (
    SELECT
        assumed.*,
        CASE
            WHEN assumed.unfit_for IS NOT NULL THEN assumed.unfit_for
            WHEN assumed.is_origin_assumed AND trace_requests.unknown_origins = 'drop' THEN 'unknown origin'
        END AS left_out
    FROM assumed
),

-- Sources come before other requests of the same time: a file is put before it is got. Of several gets of one
-- file at the same time, one that had the file staged is better evidence than one that did not.
placed AS (
    SELECT
        sources.*,
        CASE
            WHEN sources.left_out IS NULL
                THEN
                    row_number() OVER (
                        PARTITION BY sources.archive, sources.left_out IS NULL
                        ORDER BY
                            sources.submitted_at,
                            NOT sources.is_source,
                            sources.known_key IS NULL OR NOT sources.is_from_tape,
                            sources.ended_at,
                            sources.size_bytes,
                            sources.transfer_id
                    )
        END AS place
    FROM sources
),

-- If files are identified by their size alone, a file from tape is shared with no other request, as in the
-- paper. (A request that fails after a stage and is retried waits for the tape once, because both attempts
-- get one file.)
founded AS (
    SELECT
        placed.*,
        CASE
            WHEN placed.direction = 'put' THEN placed.place
            WHEN placed.known_key IS NOT NULL THEN NULL
            WHEN placed.is_from_tape AND placed.stage_id IS NULL THEN placed.place
            WHEN placed.is_from_tape
                THEN
                    min(placed.place) OVER (
                        PARTITION BY placed.stage_id, placed.known_key, placed.size_bytes
                    )
        END AS own_file_number
    FROM placed
),

found AS (
    SELECT
        founded.*,
        max(founded.own_file_number) FILTER (WHERE founded.is_source) OVER (
            PARTITION BY founded.archive, founded.known_key, founded.size_bytes
            ORDER BY founded.looked_for_at
        ) AS earlier_file_number
    FROM founded
),

with_first AS (
    SELECT
        found.*,
        -- The number of a file from before the trace. Requests that find a file of the trace come after all
        -- others.
        min(found.place) FILTER (WHERE found.own_file_number IS NULL) OVER (
            PARTITION BY found.archive, found.known_key, found.size_bytes
        ) AS first_file_number
    FROM found
)

SELECT
    with_first.archive,
    with_first.kind,
    with_first.place,
    with_first.interface,
    with_first.direction,
    with_first.user_id,
    coalesce(with_first.user_id, -with_first.place) AS user_number,
    CASE
        WHEN with_first.left_out IS NULL
            THEN
                coalesce(
                    with_first.own_file_number, with_first.earlier_file_number, with_first.first_file_number
                )
    END AS file_number,
    CASE
        WHEN with_first.left_out IS NOT NULL THEN NULL
        WHEN with_first.direction = 'put' THEN 'put'
        WHEN with_first.own_file_number IS NOT NULL THEN 'tape'
        WHEN with_first.earlier_file_number IS NOT NULL THEN 'trace'
        -- The first get of a key shows where the file was before the trace; after that, the machine decides.
        WHEN with_first.known_key IS NOT NULL AND with_first.place > with_first.first_file_number THEN 'trace'
        WHEN with_first.is_from_tape THEN 'tape'
        ELSE 'disk'
    END AS origin,
    with_first.size_bytes,
    with_first.transfer_id,
    with_first.duration_s,
    with_first.is_failed,
    with_first.is_cached,
    CASE
        WHEN with_first.left_out IS NULL
            THEN
                with_first.is_origin_assumed
                AND (with_first.known_key IS NULL OR with_first.place = with_first.first_file_number)
    END AS is_origin_assumed,
    CASE WHEN with_first.left_out IS NULL THEN with_first.known_key IS NOT NULL END AS is_file_known,
    with_first.left_out,
    with_first.submitted_at,
    with_first.ended_at
FROM with_first

$function$;
