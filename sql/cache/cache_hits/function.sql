CREATE FUNCTION mart.cache_hits(
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
    grouped_by text,
    size_class text,
    interface text,
    class_of_service text,
    get_count bigint,
    cached_count bigint,
    uncached_count bigint,
    joined_count bigint,
    unknown_count bigint,
    bypassed_count bigint,
    saturated_count bigint,
    cached_bytes numeric,
    uncached_bytes numeric,
    hit_ratio double precision,
    hit_ratio_low double precision,
    hit_ratio_high double precision,
    byte_hit_ratio double precision,
    unknown_ratio double precision,
    starts_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH requests AS (
    SELECT selected.*
    FROM
        mart.selected_requests(
            archive => cache_hits.archive,
            since => cache_hits.since,
            until => cache_hits.until,
            interface => cache_hits.interface,
            direction => cache_hits.direction,
            client => cache_hits.client,
            class_of_service => cache_hits.class_of_service
        ) AS selected
),

asked_for AS (
    SELECT
        requests.archive,
        requests.kind,
        CASE
            WHEN requests.size_bytes < 2000000 THEN 'small'
            WHEN requests.size_bytes < 200000000 THEN 'medium'
            WHEN requests.size_bytes <= 1000000000 THEN 'large'
            WHEN requests.size_bytes > 1000000000 THEN 'huge'
        END AS size_class,
        requests.interface,
        requests.class_of_service,
        requests.size_bytes,
        requests.is_size_saturated,
        requests.is_staging_bypassed,
        requests.is_cached,
        requests.is_joined,
        (requests.ended_at AT TIME ZONE requests.timezone)::date AS day
    FROM requests
    WHERE
        requests.direction = 'get'
        AND NOT requests.is_failed
        AND NOT requests.is_warm_up
),

-- Each request is read once, and the groups are built from these few cells. Materialized; otherwise the
-- planner would sort all requests to build the groups.
cells AS MATERIALIZED (
    SELECT
        asked_for.archive,
        asked_for.kind,
        asked_for.size_class,
        asked_for.interface,
        asked_for.class_of_service,
        asked_for.day,
        date_trunc('month', asked_for.day)::date AS month,
        count(*) AS get_count,
        count(*) FILTER (WHERE asked_for.is_cached) AS cached_count,
        count(*) FILTER (WHERE NOT asked_for.is_cached) AS uncached_count,
        count(*) FILTER (WHERE asked_for.is_joined) AS joined_count,
        count(asked_for.is_joined) AS joining_known_count,
        count(*) FILTER (
            WHERE asked_for.is_cached IS NULL AND asked_for.is_staging_bypassed
        ) AS bypassed_count,
        count(*) FILTER (
            WHERE asked_for.is_cached IS NOT NULL AND asked_for.is_size_saturated
        ) AS saturated_count,
        sum(asked_for.size_bytes) FILTER (WHERE asked_for.is_cached) AS cached_bytes,
        sum(asked_for.size_bytes) FILTER (WHERE NOT asked_for.is_cached) AS uncached_bytes
    FROM asked_for
    -- Sorting is faster if a number with many values comes before names with few.
    GROUP BY
        asked_for.day,
        asked_for.size_class,
        asked_for.class_of_service,
        asked_for.interface,
        asked_for.archive,
        asked_for.kind
),

-- grouping() has a bit for each column, which is 1 where the row is not grouped by it.
groups AS (
    SELECT
        cells.archive,
        cells.kind,
        CASE grouping(cells.size_class, cells.interface, cells.class_of_service, cells.day, cells.month)
            WHEN 15 THEN 'size_class'
            WHEN 23 THEN 'interface'
            WHEN 27 THEN 'class_of_service'
            WHEN 29 THEN 'day'
            WHEN 30 THEN 'month'
            ELSE 'all'
        END AS grouped_by,
        cells.size_class,
        cells.interface,
        cells.class_of_service,
        sum(cells.get_count)::bigint AS get_count,
        sum(cells.cached_count)::bigint AS cached_count,
        sum(cells.uncached_count)::bigint AS uncached_count,
        -- If no request says whether it joined a stage, the number that did is unknown.
        CASE
            WHEN sum(cells.joining_known_count) > 0 THEN sum(cells.joined_count)::bigint
        END AS joined_count,
        sum(cells.bypassed_count)::bigint AS bypassed_count,
        sum(cells.saturated_count)::bigint AS saturated_count,
        coalesce(sum(cells.cached_bytes), 0) AS cached_bytes,
        coalesce(sum(cells.uncached_bytes), 0) AS uncached_bytes,
        coalesce(cells.day, cells.month) AS starts_on
    FROM cells
    GROUP BY
        cells.archive,
        cells.kind,
        GROUPING SETS (
            (),
            (cells.size_class),
            (cells.interface),
            (cells.class_of_service),
            (cells.day),
            (cells.month)
        )
),

with_evidence AS (
    SELECT
        groups.*,
        nullif(groups.cached_count + groups.uncached_count, 0)::double precision AS evident_count,
        -- The square of the 0.975 quantile of the normal distribution.
        3.841458820694124::double precision AS z_squared
    FROM groups
)

SELECT
    with_evidence.archive,
    with_evidence.kind,
    with_evidence.grouped_by,
    with_evidence.size_class,
    with_evidence.interface,
    with_evidence.class_of_service,

    with_evidence.get_count,
    with_evidence.cached_count,
    with_evidence.uncached_count,
    with_evidence.joined_count,
    with_evidence.get_count - with_evidence.cached_count - with_evidence.uncached_count AS unknown_count,
    with_evidence.bypassed_count,
    with_evidence.saturated_count,
    with_evidence.cached_bytes,
    with_evidence.uncached_bytes,

    with_evidence.cached_count / with_evidence.evident_count AS hit_ratio,
    (
        with_evidence.cached_count
        + with_evidence.z_squared / 2
        - sqrt(
            with_evidence.z_squared
            * (
                with_evidence.cached_count * with_evidence.uncached_count / with_evidence.evident_count
                + with_evidence.z_squared / 4
            )
        )
    ) / (with_evidence.evident_count + with_evidence.z_squared) AS hit_ratio_low,
    (
        with_evidence.cached_count
        + with_evidence.z_squared / 2
        + sqrt(
            with_evidence.z_squared
            * (
                with_evidence.cached_count * with_evidence.uncached_count / with_evidence.evident_count
                + with_evidence.z_squared / 4
            )
        )
    ) / (with_evidence.evident_count + with_evidence.z_squared) AS hit_ratio_high,
    (
        with_evidence.cached_bytes / nullif(with_evidence.cached_bytes + with_evidence.uncached_bytes, 0)
    )::double precision AS byte_hit_ratio,
    1 - coalesce(with_evidence.evident_count, 0) / with_evidence.get_count AS unknown_ratio,

    with_evidence.starts_on
FROM with_evidence

$function$;
