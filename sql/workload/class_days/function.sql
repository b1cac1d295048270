CREATE FUNCTION mart.class_days(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    model text DEFAULT NULL
) RETURNS TABLE (
    model text,
    archive text,
    kind text,
    interface text,
    direction text,
    class_number integer,
    class_name text,
    request_count bigint,
    size_bytes numeric,
    request_ratio double precision,
    starts_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH archives AS (
    SELECT * FROM mart.archives
),

requests AS (
    SELECT
        requests.*,
        (requests.ended_at AT TIME ZONE archives.timezone)::date AS day
    FROM
        mart.transfer_classes(
            archive => class_days.archive,
            since => class_days.since,
            until => class_days.until,
            interface => class_days.interface,
            direction => class_days.direction,
            client => class_days.client,
            class_of_service => class_days.class_of_service,
            model => class_days.model
        ) AS requests
    INNER JOIN archives ON requests.archive = archives.archive
    WHERE requests.set_apart IS NULL
),

-- Materialized; otherwise the planner would sort all requests for the totals.
counts AS MATERIALIZED (
    SELECT
        requests.model,
        requests.archive,
        requests.kind,
        requests.interface,
        requests.direction,
        requests.class_number,
        requests.class_name,
        count(*) AS request_count,
        sum(requests.size_bytes) AS size_bytes,
        requests.day
    FROM requests
    -- Sorting is faster if a number with many values comes before names with few.
    GROUP BY
        requests.day,
        requests.class_number,
        requests.direction,
        requests.interface,
        requests.archive,
        requests.kind,
        requests.model,
        requests.class_name
)

SELECT
    counts.model,
    counts.archive,
    counts.kind,
    counts.interface,
    counts.direction,
    counts.class_number,
    counts.class_name,

    counts.request_count,
    counts.size_bytes,
    (
        counts.request_count
        / sum(counts.request_count) OVER (
            PARTITION BY counts.day, counts.direction, counts.interface, counts.archive, counts.model
        )
    )::double precision AS request_ratio,

    counts.day AS starts_on
FROM counts

$function$;
