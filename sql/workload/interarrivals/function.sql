CREATE FUNCTION mart.interarrivals(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    grouped_by text[] DEFAULT '{interface,direction}'
) RETURNS TABLE (
    archive text,
    kind text,
    interface text,
    direction text,
    request_count bigint,
    unplaced_count bigint,
    gap_count bigint,
    outage_gap_count bigint,
    zero_count bigint,
    mean_s double precision,
    stddev_s double precision,
    variation_ratio double precision,
    p50_s double precision,
    p90_s double precision,
    p99_s double precision,
    max_s double precision
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- The union of each archive's outages. An outage without an end continues, because a range whose end is null
-- is open.
WITH recorded AS (
    SELECT
        outages.archive,
        range_agg(tstzrange(outages.started_at, outages.ended_at)) AS outage_times
    FROM mart.outages
    GROUP BY outages.archive
),

arrivals AS (
    SELECT
        arrivals.*,
        lag(arrivals.asked_at) OVER (
            PARTITION BY
                arrivals.archive, arrivals.interface, arrivals.direction, arrivals.is_time_of_day_unknown
            ORDER BY arrivals.asked_at
        ) AS last_asked_at
    FROM
        mart.arrivals(
            archive => interarrivals.archive,
            since => interarrivals.since,
            until => interarrivals.until,
            interface => interarrivals.interface,
            direction => interarrivals.direction,
            client => interarrivals.client,
            class_of_service => interarrivals.class_of_service,
            grouped_by => interarrivals.grouped_by
        ) AS arrivals
),

-- During an outage nothing can come in, so a gap that one touches says nothing about the users. Whole
-- microseconds make sums independent of the order of rows.
gaps AS (
    SELECT
        arrivals.archive,
        arrivals.kind,
        arrivals.interface,
        arrivals.direction,
        arrivals.is_time_of_day_unknown,
        CASE
            WHEN NOT arrivals.is_time_of_day_unknown
                THEN (date_part('epoch', arrivals.asked_at - arrivals.last_asked_at) * 1e6)::bigint
        END AS gap_us,
        coalesce(recorded.outage_times && tstzrange(arrivals.last_asked_at, arrivals.asked_at), FALSE)
            AS has_outage
    FROM arrivals
    LEFT JOIN recorded ON arrivals.archive = recorded.archive
),

groups AS (
    SELECT
        gaps.archive,
        gaps.kind,
        gaps.interface,
        gaps.direction,
        count(*) FILTER (WHERE NOT gaps.is_time_of_day_unknown) AS request_count,
        count(*) FILTER (WHERE gaps.is_time_of_day_unknown) AS unplaced_count,
        count(gaps.gap_us) FILTER (WHERE NOT gaps.has_outage) AS gap_count,
        count(gaps.gap_us) FILTER (WHERE gaps.has_outage) AS outage_gap_count,
        count(*) FILTER (WHERE gaps.gap_us = 0) AS zero_count,
        avg(gaps.gap_us) FILTER (WHERE NOT gaps.has_outage) AS mean_us,
        stddev_samp(gaps.gap_us) FILTER (WHERE NOT gaps.has_outage) AS stddev_us,
        percentile_disc(ARRAY[0.5, 0.9, 0.99, 1]) WITHIN GROUP (
            ORDER BY gaps.gap_us
        ) FILTER (WHERE NOT gaps.has_outage) AS quantiles_us
    FROM gaps
    GROUP BY gaps.archive, gaps.kind, gaps.interface, gaps.direction
)

SELECT
    groups.archive,
    groups.kind,
    groups.interface,
    groups.direction,

    groups.request_count,
    groups.unplaced_count,
    groups.gap_count,
    groups.outage_gap_count,
    groups.zero_count,
    (groups.mean_us / 1e6)::double precision AS mean_s,
    (groups.stddev_us / 1e6)::double precision AS stddev_s,
    (groups.stddev_us / nullif(groups.mean_us, 0))::double precision AS variation_ratio,
    groups.quantiles_us[1] / 1e6::double precision AS p50_s,
    groups.quantiles_us[2] / 1e6::double precision AS p90_s,
    groups.quantiles_us[3] / 1e6::double precision AS p99_s,
    groups.quantiles_us[4] / 1e6::double precision AS max_s
FROM groups

$function$;
