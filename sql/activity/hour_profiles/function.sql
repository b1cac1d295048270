CREATE FUNCTION mart.hour_profiles(
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
    weekday integer,
    weekday_name text,
    hour integer,
    transfer_count bigint,
    failed_count bigint,
    failures_unknown_count bigint,
    size_bytes numeric,
    hour_count bigint,
    mean_transfer_count double precision,
    first_on date,
    last_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH day_cells AS (
    SELECT selected.*
    FROM
        mart.selected_days(
            archive => hour_profiles.archive,
            since => hour_profiles.since,
            until => hour_profiles.until,
            interface => hour_profiles.interface,
            direction => hour_profiles.direction,
            client => hour_profiles.client,
            class_of_service => hour_profiles.class_of_service
        ) AS selected
),

archives AS (
    SELECT * FROM mart.archives
),

-- Not materialized, so that each part of the query reads only the cells that it asks for.
cells AS NOT MATERIALIZED (
    SELECT * FROM mart.activity_cells
),

outages AS (
    SELECT * FROM mart.outages
),

weekdays (weekday, weekday_name) AS (
    VALUES
    (1, 'Mon'),
    (2, 'Tue'),
    (3, 'Wed'),
    (4, 'Thu'),
    (5, 'Fri'),
    (6, 'Sat'),
    (7, 'Sun')
),

hours AS (
    SELECT hours.hour
    FROM generate_series(0, 23) AS hours (hour)
),

-- An hour of the archive's own clock, without correcting for clock changes.
placed AS (
    SELECT
        day_cells.archive,
        day_cells.kind,
        day_cells.starts_on,
        day_cells.is_failure_logged,
        extract(ISODOW FROM day_cells.starts_on)::integer AS weekday,
        unnest(day_cells.hours)::integer AS hour,
        unnest(day_cells.hour_transfer_counts) AS transfer_count,
        unnest(day_cells.hour_failed_counts) AS failed_count,
        unnest(day_cells.hour_size_bytes) AS size_bytes,
        unnest(day_cells.hour_unknown_size_counts) AS unknown_size_count
    FROM day_cells
),

-- Materialized, so that each cell is read only once; finding the archives does not read them again.
counts AS MATERIALIZED (
    SELECT
        placed.archive,
        placed.kind,
        placed.weekday,
        placed.hour,
        sum(placed.transfer_count)::bigint AS transfer_count,
        sum(placed.failed_count)::bigint AS failed_count,
        coalesce(sum(placed.transfer_count) FILTER (WHERE NOT placed.is_failure_logged), 0)::bigint
            AS failures_unknown_count,
        bool_or(placed.failed_count > 0 OR placed.is_failure_logged) AS has_failures,
        sum(placed.transfer_count - placed.failed_count) AS moved_count,
        sum(placed.unknown_size_count) AS unknown_size_count,
        sum(placed.size_bytes) AS size_bytes,
        min(placed.starts_on) AS first_on,
        max(placed.starts_on) AS last_on
    FROM placed
    GROUP BY
        placed.hour,
        placed.weekday,
        placed.archive,
        placed.kind
),

-- The first days that are counted. Forgotten times have cells, but only since there are cells of days.
first_days AS (
    SELECT
        counted.archive,
        min(counted.starts_on) AS first_on
    FROM mart.day_cells AS counted
    GROUP BY counted.archive
),

-- The first and the last cell of the interface and direction asked for. Nothing is joined before they are
-- found, because joining costs more than finding them.
ends AS (
    SELECT
        cells.archive,
        min(cells.cell_at) AS first_at,
        max(cells.cell_at) AS last_at
    FROM cells
    WHERE
        (hour_profiles.archive IS NULL OR cells.archive = hour_profiles.archive)
        AND (hour_profiles.interface IS NULL OR cells.interface = hour_profiles.interface)
        AND (hour_profiles.direction IS NULL OR cells.direction = hour_profiles.direction)
    GROUP BY cells.archive
),

-- How often each hour of the week was in service: within the days of the range, from the first to the last
-- cell of the interface and direction asked for, but not at forgotten times whose transfers are not counted.
-- (`greatest` and `least` ignore nulls.) Two days are longer than any local day.
spans AS (
    SELECT
        archives.archive,
        archives.timezone,
        greatest(ends.first_at, hour_profiles.since - interval '2 days') AS first_at,
        least(ends.last_at, hour_profiles.until + interval '2 days') AS last_at,
        -- A midnight may come twice, so days are compared.
        greatest(
            (hour_profiles.since AT TIME ZONE archives.timezone)::date,
            CASE
                WHEN hour_profiles.client IS NULL AND archives.retained_since IS NOT NULL
                    THEN least(
                        (archives.retained_since AT TIME ZONE archives.timezone)::date, first_days.first_on
                    )
                WHEN archives.has_client_cells THEN archives.client_cells_since
                ELSE (archives.retained_since AT TIME ZONE archives.timezone)::date
            END,
            '-infinity'
        ) AS first_on,
        coalesce(hour_profiles.until AT TIME ZONE archives.timezone, 'infinity') AS until_local
    FROM ends
    INNER JOIN archives ON ends.archive = archives.archive
    INNER JOIN first_days ON ends.archive = first_days.archive
),

-- The ten minutes in which any transfer of the archive ended. Their hours are found once for all interfaces.
active_tens AS (
    SELECT
        cells.archive,
        cells.cell_at
    FROM cells
    WHERE
        cells.cell_at >= coalesce(hour_profiles.since, timestamptz '-infinity') - interval '2 days'
        AND cells.cell_at < coalesce(hour_profiles.until, timestamptz 'infinity') + interval '2 days'
        AND (hour_profiles.archive IS NULL OR cells.archive = hour_profiles.archive)
    GROUP BY cells.cell_at, cells.archive
),

-- Materialized, as are the hours below; otherwise the planner, which expects few of them, would compare each
-- hour of years with all others.
active_hours AS MATERIALIZED (
    SELECT
        spans.archive,
        spans.timezone,
        date_trunc('hour', active_tens.cell_at, spans.timezone) AS hour_at
    FROM active_tens
    INNER JOIN spans ON active_tens.archive = spans.archive
    -- Sorting is faster if a time comes before names.
    GROUP BY hour_at, spans.archive, spans.timezone
),

-- On a day without any transfer the archive may have been idle or down, or its log may be missing.
active_days AS (
    SELECT
        active_hours.archive,
        (active_hours.hour_at AT TIME ZONE active_hours.timezone)::date AS active_on
    FROM active_hours
    GROUP BY active_hours.archive, active_on
),

hours_of_spans AS MATERIALIZED (
    SELECT
        spans.archive,
        each_hour.hour_at,
        each_hour.hour_at AT TIME ZONE spans.timezone AS hour_local
    FROM spans
    CROSS JOIN
        generate_series(
            date_trunc('hour', spans.first_at, spans.timezone), spans.last_at, interval '1 hour'
        ) AS each_hour (hour_at)
    WHERE
        (each_hour.hour_at AT TIME ZONE spans.timezone)::date >= spans.first_on
        AND (each_hour.hour_at AT TIME ZONE spans.timezone)::date < spans.until_local
),

-- The union of each archive's outages, so that time covered by two of them counts once. An outage without an
-- end continues, because a range whose end is null is open.
recorded AS (
    SELECT
        outages.archive,
        range_agg(tstzrange(outages.started_at, outages.ended_at)) AS outage_times
    FROM outages
    GROUP BY outages.archive
),

-- An hour in which a transfer ended was in service, whatever is recorded. Any other hour was not, if outages
-- cover half of it or more.
served AS (
    SELECT
        hours_of_spans.archive,
        extract(ISODOW FROM hours_of_spans.hour_local)::integer AS weekday,
        extract(HOUR FROM hours_of_spans.hour_local)::integer AS hour,
        count(*) AS hour_count
    FROM hours_of_spans
    INNER JOIN active_days
        ON
            hours_of_spans.archive = active_days.archive
            AND hours_of_spans.hour_local::date = active_days.active_on
    LEFT JOIN active_hours
        ON
            hours_of_spans.archive = active_hours.archive
            AND hours_of_spans.hour_at = active_hours.hour_at
    LEFT JOIN recorded ON hours_of_spans.archive = recorded.archive
    WHERE
        active_hours.hour_at IS NOT NULL
        OR (
            SELECT coalesce(sum(upper(part.part) - lower(part.part)), interval '0')
            FROM
                unnest(
                    recorded.outage_times
                    * tstzmultirange(
                        tstzrange(hours_of_spans.hour_at, hours_of_spans.hour_at + interval '1 hour')
                    )
                ) AS part (part)
        ) < interval '30 minutes'
    GROUP BY hours_of_spans.archive, weekday, hour
),

answering AS (
    SELECT
        counts.archive,
        counts.kind,
        bool_or(counts.has_failures) AS has_failures,
        min(counts.first_on) AS first_on,
        max(counts.last_on) AS last_on
    FROM counts
    GROUP BY counts.archive, counts.kind
)

SELECT
    answering.archive,
    answering.kind,
    weekdays.weekday,
    weekdays.weekday_name,
    hours.hour,

    coalesce(counts.transfer_count, 0) AS transfer_count,
    -- If there were no transfers, none failed, provided that a log would report failures.
    CASE
        WHEN coalesce(counts.has_failures, answering.has_failures) THEN coalesce(counts.failed_count, 0)
    END AS failed_count,
    coalesce(counts.failures_unknown_count, 0) AS failures_unknown_count,
    CASE
        WHEN coalesce(counts.moved_count, 0) = 0 THEN 0
        WHEN counts.unknown_size_count < counts.moved_count THEN counts.size_bytes
    END AS size_bytes,
    coalesce(served.hour_count, 0) AS hour_count,
    coalesce(counts.transfer_count, 0) / served.hour_count::double precision AS mean_transfer_count,
    answering.first_on,
    answering.last_on
FROM answering
CROSS JOIN weekdays
CROSS JOIN hours
LEFT JOIN counts
    ON
        answering.archive = counts.archive
        AND weekdays.weekday = counts.weekday
        AND hours.hour = counts.hour
LEFT JOIN served
    ON
        answering.archive = served.archive
        AND weekdays.weekday = served.weekday
        AND hours.hour = served.hour

$function$;
