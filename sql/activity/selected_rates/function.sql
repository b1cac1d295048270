CREATE FUNCTION mart.selected_rates(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    is_exact boolean DEFAULT FALSE
) RETURNS TABLE (
    archive text,
    kind text,
    interface text,
    direction text,
    rated_count bigint,
    rated_size_bytes numeric,
    rated_duration_us bigint,
    rate_bins smallint[],
    rate_counts integer[],
    rate_bytes_per_s double precision,
    starts_on date,
    first_on date,
    last_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- The months that are wholly in the range, by the clock of each archive. None is read for a client, or
-- exactly: months do not know their transfers.
WITH ranges AS MATERIALIZED (
    SELECT
        archives.archive,
        date_trunc(
            'month',
            date_trunc(
                'day', coalesce(selected_rates.since, timestamptz '-infinity') AT TIME ZONE archives.timezone
            )
            - interval '1 day'
        )
        + interval '1 month' AS since_month,
        date_trunc(
            'month', coalesce(selected_rates.until, timestamptz 'infinity') AT TIME ZONE archives.timezone
        ) AS until_month
    FROM mart.archives
    WHERE
        selected_rates.client IS NULL
        AND selected_rates.is_exact IS NOT TRUE
        AND (selected_rates.archive IS NULL OR archives.archive = selected_rates.archive)
)

SELECT
    rate_months.archive,
    rate_months.kind,
    rate_months.interface,
    rate_months.direction,
    rate_months.rated_count,
    rate_months.rated_size_bytes,
    rate_months.rated_duration_us,
    rate_months.rate_bins,
    rate_months.rate_counts,
    NULL::double precision AS rate_bytes_per_s,
    rate_months.starts_on,
    rate_months.first_on,
    rate_months.last_on
FROM mart.rate_months
INNER JOIN ranges ON rate_months.archive = ranges.archive
WHERE
    rate_months.starts_on >= ranges.since_month
    AND rate_months.starts_on < ranges.until_month
    AND (selected_rates.interface IS NULL OR rate_months.interface = selected_rates.interface)
    AND (selected_rates.direction IS NULL OR rate_months.direction = selected_rates.direction)
    AND (
        selected_rates.class_of_service IS NULL
        OR rate_months.class_of_service = selected_rates.class_of_service
    )

UNION ALL

-- The other days of the range, or single transfers.
SELECT
    days.archive,
    days.kind,
    days.interface,
    days.direction,
    (SELECT sum(part.rate_count) FROM unnest(days.rate_counts) AS part (rate_count))::bigint AS rated_count,
    days.rated_size_bytes,
    days.rated_duration_us,
    days.rate_bins,
    days.rate_counts,
    days.rate_bytes_per_s,
    date_trunc('month', days.starts_on::timestamp)::date AS starts_on,
    days.starts_on AS first_on,
    days.starts_on AS last_on
FROM
    mart.selected_days(
        archive => selected_rates.archive,
        since => selected_rates.since,
        until => selected_rates.until,
        interface => selected_rates.interface,
        direction => selected_rates.direction,
        client => selected_rates.client,
        class_of_service => selected_rates.class_of_service,
        is_exact => selected_rates.is_exact
    ) AS days
LEFT JOIN ranges ON days.archive = ranges.archive
WHERE
    -- Without a range there are only months, and the days need not be read to find that out.
    (
        selected_rates.since IS NOT NULL
        OR selected_rates.until IS NOT NULL
        OR selected_rates.client IS NOT NULL
        OR selected_rates.is_exact
    )
    -- One condition, so that no histogram is read of a day that is in a month.
    AND CASE
        WHEN days.starts_on >= ranges.since_month AND days.starts_on < ranges.until_month THEN FALSE
        ELSE days.rate_bins <> '{}'
    END

$function$;
