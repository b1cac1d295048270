CREATE FUNCTION mart.workload_cells(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    measure text DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    interface text,
    direction text,
    size_bucket integer,
    time_bucket integer,
    set_apart text,
    request_count bigint,
    size_bytes numeric,
    cached_count bigint,
    uncached_count bigint,
    size_log10 double precision,
    time_log10 double precision,
    first_ended_at timestamptz,
    last_ended_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH requests AS (
    SELECT
        requests.*,
        -- 8 buckets per octave: an octave is log(2) decades.
        CASE
            WHEN requests.set_apart IS NULL THEN floor(8 * requests.size_log10 / log(2::double precision))
        END::integer AS size_bucket,
        CASE
            WHEN requests.set_apart IS NULL THEN floor(8 * requests.time_log10 / log(2::double precision))
        END::integer AS time_bucket,
        -- In whole hundred-millionths of a decade, whose sum does not depend on the order of the rows.
        round(1e8::double precision * requests.size_log10)::integer AS size_units,
        round(1e8::double precision * requests.time_log10)::integer AS time_units
    FROM
        mart.workload_requests(
            archive => workload_cells.archive,
            since => workload_cells.since,
            until => workload_cells.until,
            interface => workload_cells.interface,
            direction => workload_cells.direction,
            client => workload_cells.client,
            class_of_service => workload_cells.class_of_service,
            measure => workload_cells.measure
        ) AS requests
)

SELECT
    requests.archive,
    requests.kind,
    requests.interface,
    requests.direction,
    requests.size_bucket,
    requests.time_bucket,
    requests.set_apart,

    count(*) AS request_count,
    sum(requests.size_bytes) AS size_bytes,
    count(*) FILTER (WHERE requests.is_cached) AS cached_count,
    count(*) FILTER (WHERE NOT requests.is_cached) AS uncached_count,
    -- A cell is represented by its mean.
    CASE
        WHEN requests.set_apart IS NULL THEN sum(requests.size_units)::double precision / count(*) / 1e8
    END AS size_log10,
    CASE
        WHEN requests.set_apart IS NULL THEN sum(requests.time_units)::double precision / count(*) / 1e8
    END AS time_log10,

    min(requests.ended_at) AS first_ended_at,
    max(requests.ended_at) AS last_ended_at
FROM requests
GROUP BY
    requests.archive,
    requests.kind,
    requests.interface,
    requests.direction,
    requests.size_bucket,
    requests.time_bucket,
    requests.set_apart

$function$;
