CREATE FUNCTION mart.monthly_rates(
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
    transfer_count bigint,
    size_bytes numeric,
    duration_s double precision,
    mean_rate_bytes_per_s double precision,
    p10_rate_bytes_per_s double precision,
    p50_rate_bytes_per_s double precision,
    p90_rate_bytes_per_s double precision,
    starts_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH transfers AS (
    SELECT selected.*
    FROM
        mart.selected_transfers(
            archive => monthly_rates.archive,
            since => monthly_rates.since,
            until => monthly_rates.until,
            interface => monthly_rates.interface,
            direction => monthly_rates.direction,
            client => monthly_rates.client,
            class_of_service => monthly_rates.class_of_service
        ) AS selected
),

archives AS (
    SELECT * FROM mart.archives
),

asked_for AS (
    SELECT
        transfers.archive,
        transfers.kind,
        transfers.interface,
        transfers.direction,
        transfers.size_bytes,
        -- Integers, so that sums are the same whatever the order of addition.
        round(transfers.duration_s * 1e6)::bigint AS duration_us,
        transfers.rate_bytes_per_s,
        date_trunc('month', transfers.ended_at AT TIME ZONE archives.timezone)::date AS starts_on
    FROM transfers
    INNER JOIN archives ON transfers.archive = archives.archive
    WHERE
        NOT transfers.is_failed
        AND NOT transfers.is_size_saturated
        AND transfers.size_bytes IS NOT NULL
        AND transfers.duration_s IS NOT NULL
        AND transfers.rate_bytes_per_s IS NOT NULL
),

months AS (
    SELECT
        asked_for.archive,
        asked_for.kind,
        asked_for.interface,
        asked_for.direction,
        count(*) AS transfer_count,
        sum(asked_for.size_bytes) AS size_bytes,
        sum(asked_for.duration_us)::double precision / 1e6 AS duration_s,
        percentile_cont(0.1) WITHIN GROUP (ORDER BY asked_for.rate_bytes_per_s) AS p10_rate_bytes_per_s,
        percentile_cont(0.5) WITHIN GROUP (ORDER BY asked_for.rate_bytes_per_s) AS p50_rate_bytes_per_s,
        percentile_cont(0.9) WITHIN GROUP (ORDER BY asked_for.rate_bytes_per_s) AS p90_rate_bytes_per_s,
        asked_for.starts_on
    FROM asked_for
    -- Sorting is faster if a number that differs often comes before names that hardly differ.
    GROUP BY
        asked_for.starts_on,
        asked_for.interface,
        asked_for.direction,
        asked_for.archive,
        asked_for.kind
)

SELECT
    months.archive,
    months.kind,
    months.interface,
    months.direction,

    months.transfer_count,
    months.size_bytes,
    months.duration_s,
    months.size_bytes::double precision / nullif(months.duration_s, 0) AS mean_rate_bytes_per_s,
    months.p10_rate_bytes_per_s,
    months.p50_rate_bytes_per_s,
    months.p90_rate_bytes_per_s,

    months.starts_on
FROM months

$function$;
