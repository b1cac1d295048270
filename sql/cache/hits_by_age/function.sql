CREATE FUNCTION mart.hits_by_age(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    grouped_by text[] DEFAULT '{}',
    age_days double precision[] DEFAULT '{0.125,1,3,7,30,90,365}',
    least_bytes bigint DEFAULT NULL,
    most_bytes bigint DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    class_of_service text,
    size_from_bytes numeric,
    size_to_bytes numeric,
    last_use text,
    age_from_days double precision,
    age_to_days double precision,
    get_count bigint,
    cached_count bigint,
    uncached_count bigint,
    unknown_count bigint,
    cached_bytes numeric,
    uncached_bytes numeric,
    hit_ratio double precision,
    starts_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- The last use is the newer of the put and the last get.
WITH uses AS (
    SELECT
        accesses.transfer_id,
        least(accesses.age_s, accesses.since_last_get_s) / 86400 AS age_days
    FROM
        mart.file_accesses(
            archive => hits_by_age.archive,
            since => hits_by_age.since - interval '1 day',
            until => hits_by_age.until + interval '1 day'
        ) AS accesses
),

-- Only the columns of the groupings that are asked for have values.
gets AS (
    SELECT
        requests.archive,
        requests.kind,
        CASE WHEN 'class_of_service' = any(hits_by_age.grouped_by) THEN requests.class_of_service END
            AS class_of_service,
        CASE WHEN 'size' = any(hits_by_age.grouped_by) THEN mart.size_bin(requests.size_bytes) END
            AS size_bin,
        CASE
            WHEN uses.age_days IS NOT NULL THEN 'in the log'
            WHEN uses.transfer_id IS NOT NULL THEN 'before the log'
            ELSE 'unknown'
        END AS last_use,
        width_bucket(uses.age_days, mart.ascending_edges(hits_by_age.age_days)) AS place,
        requests.is_cached,
        requests.size_bytes,
        CASE
            WHEN 'day' = any(hits_by_age.grouped_by)
                THEN (requests.ended_at AT TIME ZONE requests.timezone)::date
            WHEN 'month' = any(hits_by_age.grouped_by)
                THEN date_trunc('month', requests.ended_at AT TIME ZONE requests.timezone)::date
        END AS starts_on
    FROM
        mart.selected_requests(
            archive => hits_by_age.archive,
            since => hits_by_age.since,
            until => hits_by_age.until,
            interface => hits_by_age.interface,
            direction => 'get',
            client => hits_by_age.client,
            class_of_service => hits_by_age.class_of_service
        ) AS requests
    LEFT JOIN uses ON requests.transfer_id = uses.transfer_id
    WHERE
        NOT requests.is_failed
        AND requests.is_of_parts IS NOT TRUE
        AND requests.is_warm_up IS NOT TRUE
        AND coalesce(hits_by_age.direction, 'get') = 'get'
        AND (hits_by_age.least_bytes IS NULL OR requests.size_bytes >= hits_by_age.least_bytes)
        AND (hits_by_age.most_bytes IS NULL OR requests.size_bytes <= hits_by_age.most_bytes)
        AND hits_by_age.grouped_by <@ ARRAY['class_of_service', 'size', 'day', 'month']
)

SELECT
    gets.archive,
    gets.kind,
    gets.class_of_service,
    mart.size_bin_edge(gets.size_bin) AS size_from_bytes,
    mart.size_bin_edge(gets.size_bin + 1) AS size_to_bytes,
    gets.last_use,

    CASE gets.place WHEN 0 THEN 0 ELSE (mart.ascending_edges(hits_by_age.age_days))[gets.place] END
        AS age_from_days,
    (mart.ascending_edges(hits_by_age.age_days))[gets.place + 1] AS age_to_days,
    count(*) AS get_count,
    count(*) FILTER (WHERE gets.is_cached) AS cached_count,
    count(*) FILTER (WHERE NOT gets.is_cached) AS uncached_count,
    count(*) FILTER (WHERE gets.is_cached IS NULL) AS unknown_count,
    coalesce(sum(gets.size_bytes) FILTER (WHERE gets.is_cached), 0) AS cached_bytes,
    coalesce(sum(gets.size_bytes) FILTER (WHERE NOT gets.is_cached), 0) AS uncached_bytes,
    avg(gets.is_cached::integer)::double precision AS hit_ratio,

    gets.starts_on
FROM gets
GROUP BY
    gets.archive,
    gets.kind,
    gets.class_of_service,
    gets.size_bin,
    gets.last_use,
    gets.place,
    gets.starts_on

$function$;
