CREATE FUNCTION mart.cache_hits(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    grouped_by text DEFAULT 'all'
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
    starts_on date,
    first_on date,
    last_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH gets AS (
    SELECT selected.*
    FROM
        mart.selected_hits(
            archive => cache_hits.archive,
            since => cache_hits.since,
            until => cache_hits.until,
            interface => cache_hits.interface,
            direction => cache_hits.direction,
            client => cache_hits.client,
            class_of_service => cache_hits.class_of_service
        ) AS selected
    WHERE cache_hits.grouped_by IN ('all', 'day', 'month', 'size_class', 'interface', 'class_of_service')
),

-- Only the column of the grouping that is asked for has values.
asked_for AS (
    SELECT
        gets.archive,
        gets.kind,
        CASE WHEN cache_hits.grouped_by = 'size_class' THEN gets.size_class END AS size_class,
        CASE WHEN cache_hits.grouped_by = 'interface' THEN gets.interface END AS interface,
        CASE WHEN cache_hits.grouped_by = 'class_of_service' THEN gets.class_of_service END
            AS class_of_service,
        gets.get_count,
        gets.is_cached,
        gets.is_joined,
        gets.is_staging_bypassed,
        gets.is_size_saturated,
        gets.size_bytes,
        CASE cache_hits.grouped_by
            WHEN 'day' THEN gets.starts_on
            WHEN 'month' THEN date_trunc('month', gets.starts_on::timestamp)::date
        END AS starts_on,
        gets.starts_on AS day
    FROM gets
),

groups AS (
    SELECT
        asked_for.archive,
        asked_for.kind,
        asked_for.size_class,
        asked_for.interface,
        asked_for.class_of_service,
        sum(asked_for.get_count)::bigint AS get_count,
        coalesce(sum(asked_for.get_count) FILTER (WHERE asked_for.is_cached), 0)::bigint AS cached_count,
        coalesce(sum(asked_for.get_count) FILTER (WHERE NOT asked_for.is_cached), 0)::bigint
            AS uncached_count,
        -- If no request says whether it joined a stage, the number that did is unknown.
        sum(
            CASE WHEN asked_for.is_joined THEN asked_for.get_count WHEN NOT asked_for.is_joined THEN 0 END
        )::bigint AS joined_count,
        coalesce(
            sum(asked_for.get_count) FILTER (
                WHERE asked_for.is_cached IS NULL AND asked_for.is_staging_bypassed
            ),
            0
        )::bigint AS bypassed_count,
        coalesce(
            sum(asked_for.get_count) FILTER (
                WHERE asked_for.is_cached IS NOT NULL AND asked_for.is_size_saturated
            ),
            0
        )::bigint AS saturated_count,
        coalesce(sum(asked_for.size_bytes) FILTER (WHERE asked_for.is_cached), 0) AS cached_bytes,
        coalesce(sum(asked_for.size_bytes) FILTER (WHERE NOT asked_for.is_cached), 0) AS uncached_bytes,
        asked_for.starts_on,
        min(asked_for.day) AS first_on,
        max(asked_for.day) AS last_on
    FROM asked_for
    GROUP BY
        asked_for.starts_on,
        asked_for.size_class,
        asked_for.class_of_service,
        asked_for.interface,
        asked_for.archive,
        asked_for.kind
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
    cache_hits.grouped_by,
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

    with_evidence.starts_on,
    with_evidence.first_on,
    with_evidence.last_on
FROM with_evidence

$function$;
