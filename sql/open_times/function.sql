CREATE FUNCTION mart.open_times(
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
    interface text,
    direction text,
    open_floor_s bigint,
    request_count bigint,
    running_count bigint,
    request_ratio double precision,
    running_ratio double precision
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH transfers AS (
    SELECT * FROM mart.transfers
),

opens AS (
    SELECT * FROM mart.opens
),

-- Some logs give the open time with the transfer, others in a line of its own.
requests AS (
    SELECT
        transfers.archive,
        transfers.kind,
        transfers.interface,
        transfers.direction,
        transfers.client,
        transfers.class_of_service,
        transfers.open_s,
        transfers.is_failed,
        transfers.ended_at AS happened_at
    FROM transfers
    UNION ALL
    SELECT
        opens.archive,
        opens.kind,
        opens.interface,
        opens.direction,
        opens.client,
        opens.class_of_service,
        opens.open_s,
        opens.is_failed,
        opens.opened_at AS happened_at
    FROM opens
),

-- `coalesce` and not `or`: partitions are pruned by times known only at execution (now() - ...) too.
asked_for AS (
    SELECT
        requests.archive,
        requests.kind,
        requests.interface,
        requests.direction,
        floor(requests.open_s)::bigint AS open_floor_s
    FROM requests
    WHERE
        NOT requests.is_failed
        AND requests.open_s IS NOT NULL
        AND (open_times.archive IS NULL OR requests.archive = open_times.archive)
        AND requests.happened_at >= coalesce(open_times.since, timestamptz '-infinity')
        AND requests.happened_at < coalesce(open_times.until, timestamptz 'infinity')
        AND (open_times.interface IS NULL OR requests.interface = open_times.interface)
        AND (open_times.direction IS NULL OR requests.direction = open_times.direction)
        AND (open_times.client IS NULL OR requests.client = open_times.client)
        AND (
            open_times.class_of_service IS NULL OR requests.class_of_service = open_times.class_of_service
        )
),

counts AS (
    SELECT
        asked_for.archive,
        asked_for.kind,
        asked_for.interface,
        asked_for.direction,
        asked_for.open_floor_s,
        count(*) AS request_count
    FROM asked_for
    GROUP BY
        asked_for.archive,
        asked_for.kind,
        asked_for.interface,
        asked_for.direction,
        asked_for.open_floor_s
),

running AS (
    SELECT
        counts.*,
        (sum(counts.request_count) OVER upto)::bigint AS running_count,
        (sum(counts.request_count) OVER everything)::double precision AS total_count
    FROM counts
    WINDOW
        everything AS (PARTITION BY counts.archive, counts.kind, counts.interface, counts.direction),
        upto AS (everything ORDER BY counts.open_floor_s)
)

SELECT
    running.archive,
    running.kind,
    running.interface,
    running.direction,

    running.open_floor_s,
    running.request_count,
    running.running_count,
    running.request_count / running.total_count AS request_ratio,
    running.running_count / running.total_count AS running_ratio
FROM running

$function$;
