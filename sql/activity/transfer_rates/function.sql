CREATE FUNCTION mart.transfer_rates(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    grouped_by text[] DEFAULT '{interface,direction}',
    over_bytes bigint DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    interface text,
    direction text,
    client text,
    class_of_service text,
    network text,
    size_from_bytes numeric,
    size_to_bytes numeric,
    transfer_count bigint,
    unrated_count bigint,
    size_bytes numeric,
    unrated_bytes numeric,
    min_rate_bytes_per_s double precision,
    p10_rate_bytes_per_s double precision,
    p50_rate_bytes_per_s double precision,
    p90_rate_bytes_per_s double precision,
    max_rate_bytes_per_s double precision,
    mean_rate_bytes_per_s double precision,
    fastest_transfer_id bigint,
    fastest_size_bytes bigint,
    envelope_count bigint,
    mean_envelope_bytes_per_s double precision,
    envelope_ratio double precision,
    starts_on date,
    fastest_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- Materialized, so that the line is fitted once, and not for each transfer.
WITH lines AS MATERIALIZED (
    SELECT
        envelopes.archive,
        envelopes.interface,
        envelopes.direction,
        envelopes.latency_s,
        envelopes.slope_s_per_byte
    FROM
        mart.lower_envelopes(
            archive => transfer_rates.archive,
            since => transfer_rates.since,
            until => transfer_rates.until,
            interface => transfer_rates.interface,
            direction => transfer_rates.direction,
            client => transfer_rates.client,
            class_of_service => transfer_rates.class_of_service
        ) AS envelopes
),

-- Only the columns of the groupings that are asked for have values. FTP's whole seconds, and the 0.499 that
-- it writes for less than one, do not give the rates of short transfers.
asked_for AS (
    SELECT
        transfers.archive,
        transfers.kind,
        CASE WHEN 'interface' = any(transfer_rates.grouped_by) THEN transfers.interface END AS interface,
        CASE WHEN 'direction' = any(transfer_rates.grouped_by) THEN transfers.direction END AS direction,
        CASE WHEN 'client' = any(transfer_rates.grouped_by) THEN transfers.client END AS client,
        CASE WHEN 'class_of_service' = any(transfer_rates.grouped_by) THEN transfers.class_of_service END
            AS class_of_service,
        networks.network,
        CASE WHEN 'size' = any(transfer_rates.grouped_by) THEN length(transfers.size_bytes::text) END
            AS digit_count,
        CASE
            WHEN 'day' = any(transfer_rates.grouped_by)
                THEN (transfers.ended_at AT TIME ZONE archives.timezone)::date
            WHEN 'month' = any(transfer_rates.grouped_by)
                THEN date_trunc('month', transfers.ended_at AT TIME ZONE archives.timezone)::date
        END AS starts_on,
        transfers.size_bytes,
        CASE
            WHEN
                NOT transfers.is_size_saturated
                AND NOT (transfers.is_duration_coarse AND transfers.duration_s < 10)
                THEN transfers.rate_bytes_per_s
        END AS rate_bytes_per_s,
        transfers.size_bytes / nullif(
            greatest(lines.latency_s + lines.slope_s_per_byte * transfers.size_bytes, 0), 0
        ) AS envelope_bytes_per_s,
        extract(EPOCH FROM transfers.ended_at) * 1000000 AS ended_us,
        transfers.transfer_id
    FROM
        mart.selected_transfers(
            archive => transfer_rates.archive,
            since => transfer_rates.since,
            until => transfer_rates.until,
            interface => transfer_rates.interface,
            direction => transfer_rates.direction,
            client => transfer_rates.client,
            class_of_service => transfer_rates.class_of_service
        ) AS transfers
    INNER JOIN mart.archives ON transfers.archive = archives.archive
    -- Not joined at all unless it is asked for.
    LEFT JOIN mart.transfer_networks AS networks
        ON
            'network' = any(transfer_rates.grouped_by)
            AND transfers.transfer_id = networks.transfer_id
    LEFT JOIN lines
        ON
            transfers.archive = lines.archive
            AND transfers.interface = lines.interface
            AND transfers.direction = lines.direction
    WHERE
        NOT transfers.is_failed
        AND transfers.size_bytes > coalesce(transfer_rates.over_bytes, 0)
        AND transfer_rates.grouped_by
        <@ ARRAY['interface', 'direction', 'client', 'class_of_service', 'network', 'size', 'month', 'day']
),

-- The fastest transfer is the greatest of these arrays: of equally fast ones, the earliest.
groups AS (
    SELECT
        asked_for.archive,
        asked_for.kind,
        asked_for.interface,
        asked_for.direction,
        asked_for.client,
        asked_for.class_of_service,
        asked_for.network,
        asked_for.digit_count,
        asked_for.starts_on,
        count(asked_for.rate_bytes_per_s) AS transfer_count,
        count(*) - count(asked_for.rate_bytes_per_s) AS unrated_count,
        sum(asked_for.size_bytes) FILTER (WHERE asked_for.rate_bytes_per_s IS NOT NULL) AS size_bytes,
        coalesce(sum(asked_for.size_bytes) FILTER (WHERE asked_for.rate_bytes_per_s IS NULL), 0)
            AS unrated_bytes,
        min(asked_for.rate_bytes_per_s) AS min_rate,
        percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY asked_for.rate_bytes_per_s) AS rates,
        max(
            ARRAY[
                asked_for.rate_bytes_per_s,
                -asked_for.ended_us::double precision,
                -asked_for.transfer_id::double precision,
                asked_for.size_bytes::double precision
            ]
        ) FILTER (WHERE asked_for.rate_bytes_per_s IS NOT NULL) AS fastest,
        -- As numbers, sums do not depend on the order of rows.
        avg(asked_for.rate_bytes_per_s::numeric)::double precision AS mean_rate,
        count(asked_for.rate_bytes_per_s / asked_for.envelope_bytes_per_s) AS envelope_count,
        (
            avg(asked_for.envelope_bytes_per_s::numeric) FILTER (WHERE asked_for.rate_bytes_per_s IS NOT NULL)
        )::double precision
            AS mean_envelope,
        avg((asked_for.rate_bytes_per_s / asked_for.envelope_bytes_per_s)::numeric)::double precision
            AS envelope_ratio
    FROM asked_for
    GROUP BY
        asked_for.starts_on,
        asked_for.digit_count,
        asked_for.client,
        asked_for.network,
        asked_for.class_of_service,
        asked_for.interface,
        asked_for.direction,
        asked_for.archive,
        asked_for.kind
)

SELECT
    groups.archive,
    groups.kind,
    groups.interface,
    groups.direction,
    groups.client,
    groups.class_of_service,
    groups.network,

    -- A power of numbers has decimals.
    round(10::numeric ^ (groups.digit_count - 1)) AS size_from_bytes,
    round(10::numeric ^ groups.digit_count) AS size_to_bytes,
    groups.transfer_count,
    groups.unrated_count,
    groups.size_bytes,
    groups.unrated_bytes,
    groups.min_rate AS min_rate_bytes_per_s,
    groups.rates[1] AS p10_rate_bytes_per_s,
    groups.rates[2] AS p50_rate_bytes_per_s,
    groups.rates[3] AS p90_rate_bytes_per_s,
    groups.fastest[1] AS max_rate_bytes_per_s,
    groups.mean_rate AS mean_rate_bytes_per_s,
    -groups.fastest[3]::bigint AS fastest_transfer_id,
    groups.fastest[4]::bigint AS fastest_size_bytes,
    groups.envelope_count,
    groups.mean_envelope AS mean_envelope_bytes_per_s,
    groups.envelope_ratio,

    groups.starts_on,
    timestamptz '1970-01-01 00:00Z' - groups.fastest[2] * interval '1 microsecond' AS fastest_at
FROM groups

$function$;
