CREATE FUNCTION mart.selected_hours(
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
    is_failure_logged boolean,
    weekday integer,
    hour integer,
    transfer_count bigint,
    failed_count bigint,
    size_bytes numeric,
    unknown_size_count bigint,
    first_on date,
    last_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- The months that are wholly in the range, by the clock of each archive. None is read for a client.
WITH ranges AS MATERIALIZED (
    SELECT
        archives.archive,
        date_trunc(
            'month',
            date_trunc(
                'day', coalesce(selected_hours.since, timestamptz '-infinity') AT TIME ZONE archives.timezone
            )
            - interval '1 day'
        )
        + interval '1 month' AS since_month,
        date_trunc(
            'month', coalesce(selected_hours.until, timestamptz 'infinity') AT TIME ZONE archives.timezone
        ) AS until_month
    FROM mart.archives
    WHERE
        selected_hours.client IS NULL
        AND (selected_hours.archive IS NULL OR archives.archive = selected_hours.archive)
),

-- The months in which a log of failures begins or ends: days are read in their place.
mixed AS MATERIALIZED (
    SELECT DISTINCT
        hour_months.archive,
        hour_months.starts_on
    FROM mart.hour_months
    INNER JOIN ranges ON hour_months.archive = ranges.archive
    WHERE hour_months.is_failure_logged IS NULL
)

SELECT
    hours.archive,
    hours.kind,
    hours.is_failure_logged,
    hours.week_hour / 24 + 1 AS weekday,
    mod(hours.week_hour, 24) AS hour,
    hours.transfer_count,
    hours.failed_count,
    hours.size_bytes,
    hours.unknown_size_count,
    hours.first_on,
    hours.last_on
FROM (
    SELECT
        hour_months.archive,
        hour_months.kind,
        hour_months.is_failure_logged,
        unnest(hour_months.week_hours)::integer AS week_hour,
        unnest(hour_months.transfer_counts) AS transfer_count,
        unnest(hour_months.failed_counts) AS failed_count,
        unnest(hour_months.size_bytes) AS size_bytes,
        unnest(hour_months.unknown_size_counts) AS unknown_size_count,
        hour_months.first_on,
        hour_months.last_on
    FROM mart.hour_months
    INNER JOIN ranges ON hour_months.archive = ranges.archive
    LEFT JOIN mixed
        ON hour_months.archive = mixed.archive AND hour_months.starts_on = mixed.starts_on
    WHERE
        mixed.archive IS NULL
        AND hour_months.starts_on >= ranges.since_month
        AND hour_months.starts_on < ranges.until_month
        AND (selected_hours.interface IS NULL OR hour_months.interface = selected_hours.interface)
        AND (selected_hours.direction IS NULL OR hour_months.direction = selected_hours.direction)
        AND (
            selected_hours.class_of_service IS NULL
            OR hour_months.class_of_service = selected_hours.class_of_service
        )
) AS hours

UNION ALL

-- The other days of the range, or single transfers.
SELECT
    days.archive,
    days.kind,
    days.is_failure_logged,
    extract(ISODOW FROM days.starts_on)::integer AS weekday,
    unnest(days.hours)::integer AS hour,
    unnest(days.hour_transfer_counts) AS transfer_count,
    unnest(days.hour_failed_counts) AS failed_count,
    unnest(days.hour_size_bytes) AS size_bytes,
    unnest(days.hour_unknown_size_counts) AS unknown_size_count,
    days.starts_on AS first_on,
    days.starts_on AS last_on
FROM
    mart.selected_days(
        archive => selected_hours.archive,
        since => selected_hours.since,
        until => selected_hours.until,
        interface => selected_hours.interface,
        direction => selected_hours.direction,
        client => selected_hours.client,
        class_of_service => selected_hours.class_of_service
    ) AS days
LEFT JOIN ranges ON days.archive = ranges.archive
LEFT JOIN mixed
    ON
        days.archive = mixed.archive
        AND mixed.starts_on = date_trunc('month', days.starts_on::timestamp)::date
WHERE
    -- Without a range there are only months, and mostly the days need not be read to find that out.
    (
        selected_hours.since IS NOT NULL
        OR selected_hours.until IS NOT NULL
        OR selected_hours.client IS NOT NULL
        OR EXISTS (SELECT either.archive FROM mixed AS either)
    )
    AND (
        mixed.archive IS NULL
        AND days.starts_on >= ranges.since_month
        AND days.starts_on < ranges.until_month
    ) IS NOT TRUE

$function$;
