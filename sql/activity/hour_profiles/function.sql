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

WITH placed AS (
    SELECT selected.*
    FROM
        mart.selected_hours(
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
    SELECT
        archives.*,
        row_number() OVER (ORDER BY archives.archive) AS archive_number
    FROM mart.archives
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

-- Years have many cells, so they are grouped by one number: that of the archive, and the hour of the week.
-- Names take most of the time to compare.
summed AS (
    SELECT
        archives.archive_number * 168 + (placed.weekday - 1) * 24 + placed.hour AS week_key,
        sum(placed.transfer_count)::bigint AS transfer_count,
        sum(placed.failed_count)::bigint AS failed_count,
        coalesce(sum(placed.transfer_count) FILTER (WHERE NOT placed.is_failure_logged), 0)::bigint
            AS failures_unknown_count,
        bool_or(placed.failed_count > 0 OR placed.is_failure_logged) AS has_failures,
        sum(placed.transfer_count - placed.failed_count) AS moved_count,
        sum(placed.unknown_size_count) AS unknown_size_count,
        sum(placed.size_bytes) AS size_bytes,
        min(placed.first_on) AS first_on,
        max(placed.last_on) AS last_on
    FROM placed
    INNER JOIN archives ON placed.archive = archives.archive
    GROUP BY archives.archive_number * 168 + (placed.weekday - 1) * 24 + placed.hour
),

-- Materialized, so that each cell is read only once; finding the archives does not read them again.
counts AS MATERIALIZED (
    SELECT
        archives.archive,
        archives.kind,
        mod(summed.week_key, 168) / 24 + 1 AS weekday,
        mod(summed.week_key, 24) AS hour,
        summed.transfer_count,
        summed.failed_count,
        summed.failures_unknown_count,
        summed.has_failures,
        summed.moved_count,
        summed.unknown_size_count,
        summed.size_bytes,
        summed.first_on,
        summed.last_on
    FROM summed
    INNER JOIN archives ON summed.week_key / 168 = archives.archive_number
),

-- On a day without any transfer the archive may have been idle or down, or its log may be missing. is_seen:
-- with a transfer of the interface and direction asked for.
active_days AS (
    SELECT
        counted.archive,
        counted.timezone,
        counted.starts_on,
        bool_or(
            (hour_profiles.interface IS NULL OR counted.interface = hour_profiles.interface)
            AND (hour_profiles.direction IS NULL OR counted.direction = hour_profiles.direction)
        ) AS is_seen
    FROM mart.day_cells AS counted
    WHERE hour_profiles.archive IS NULL OR counted.archive = hour_profiles.archive
    GROUP BY counted.archive, counted.timezone, counted.starts_on
),

-- Hours are in service from the first to the last transfer of the interface and direction asked for.
spans AS (
    SELECT
        active_days.archive,
        min(active_days.starts_on) FILTER (WHERE active_days.is_seen) AS first_on,
        max(active_days.starts_on) FILTER (WHERE active_days.is_seen) AS last_on
    FROM active_days
    GROUP BY active_days.archive
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

-- The active days of the range. Cells stay when transfers are forgotten, so the forgotten days are left out
-- only for a client, and there only those without cells of single clients. is_shifted: clocks change between
-- the noons before and after the day, so it may not have each hour once.
days AS (
    SELECT
        active_days.archive,
        active_days.timezone,
        active_days.starts_on,
        spans.first_on,
        spans.last_on,
        recorded.outage_times,
        active_days.starts_on::timestamp AT TIME ZONE active_days.timezone AS starts_at,
        (active_days.starts_on + interval '36 hours') AT TIME ZONE active_days.timezone
        - (active_days.starts_on - interval '12 hours') AT TIME ZONE active_days.timezone
        <> interval '48 hours' AS is_shifted
    FROM active_days
    INNER JOIN spans ON active_days.archive = spans.archive
    INNER JOIN archives ON active_days.archive = archives.archive
    LEFT JOIN recorded ON active_days.archive = recorded.archive
    WHERE
        active_days.starts_on BETWEEN spans.first_on AND spans.last_on
        -- A midnight may come twice, so days are compared.
        AND active_days.starts_on
        >= (coalesce(hour_profiles.since, timestamptz '-infinity') AT TIME ZONE active_days.timezone)::date
        AND active_days.starts_on
        < coalesce(hour_profiles.until, timestamptz 'infinity') AT TIME ZONE active_days.timezone
        AND CASE
            WHEN hour_profiles.client IS NULL THEN TRUE
            WHEN archives.has_client_cells
                THEN active_days.starts_on >= coalesce(archives.client_cells_since, '-infinity')
            ELSE
                active_days.starts_on
                >= coalesce((archives.retained_since AT TIME ZONE active_days.timezone)::date, '-infinity')
        END
),

-- Most days are only counted. The others are looked at hour by hour (is_odd): those on which clocks change,
-- which an outage touches, or on which the span begins or ends. Materialized, to be found once for both.
marked_days AS MATERIALIZED (
    SELECT
        days.*,
        days.is_shifted
        OR days.starts_on IN (days.first_on, days.last_on)
        OR coalesce(
            days.outage_times && tstzrange(days.starts_at, days.starts_at + interval '24 hours'), FALSE
        ) AS is_odd
    FROM days
),

-- Each of these days has each hour once.
even_counts AS (
    SELECT
        marked_days.archive,
        extract(ISODOW FROM marked_days.starts_on)::integer AS weekday,
        count(*) AS day_count
    FROM marked_days
    WHERE NOT marked_days.is_odd
    GROUP BY marked_days.archive, weekday
),

-- first_at, last_at: between which cells hours are in service. A day whose clocks change may have hours up to
-- three hours before or after its usual ones.
odd_days AS (
    SELECT
        marked_days.archive,
        marked_days.timezone,
        marked_days.starts_on,
        marked_days.starts_at,
        marked_days.outage_times
        * tstzmultirange(
            tstzrange(
                marked_days.starts_at - interval '3 hours', marked_days.starts_at + interval '28 hours'
            )
        ) AS outage_times,
        CASE WHEN marked_days.starts_on = marked_days.first_on THEN ends.first_at ELSE '-infinity' END
            AS first_at,
        CASE WHEN marked_days.starts_on = marked_days.last_on THEN ends.last_at ELSE 'infinity' END AS last_at
    FROM marked_days
    CROSS JOIN
        LATERAL (
            SELECT
                min(cells.cell_at) AS first_at,
                max(cells.cell_at) AS last_at
            FROM mart.activity_cells AS cells
            WHERE
                marked_days.starts_on IN (marked_days.first_on, marked_days.last_on)
                AND cells.archive = marked_days.archive
                AND cells.cell_at >= marked_days.starts_at - interval '3 hours'
                AND cells.cell_at < marked_days.starts_at + interval '28 hours'
                AND (hour_profiles.interface IS NULL OR cells.interface = hour_profiles.interface)
                AND (hour_profiles.direction IS NULL OR cells.direction = hour_profiles.direction)
        ) AS ends
    WHERE marked_days.is_odd
),

-- Hours are those of the clock that the day begins with.
odd_hours AS (
    SELECT
        odd_days.archive,
        odd_days.outage_times,
        each_hour.hour_at,
        each_hour.hour_at AT TIME ZONE odd_days.timezone AS hour_local
    FROM odd_days
    CROSS JOIN
        generate_series(
            odd_days.starts_at - interval '3 hours',
            odd_days.starts_at + interval '27 hours',
            interval '1 hour'
        ) AS each_hour (hour_at)
    WHERE
        (each_hour.hour_at AT TIME ZONE odd_days.timezone)::date = odd_days.starts_on
        AND each_hour.hour_at > odd_days.first_at - interval '1 hour'
        AND each_hour.hour_at <= odd_days.last_at
),

-- An hour in which a transfer ended was in service, whatever is recorded. Any other hour was not, if outages
-- cover half of it or more.
served AS (
    SELECT
        found.archive,
        found.weekday,
        found.hour,
        sum(found.hour_count)::bigint AS hour_count
    FROM (
        SELECT
            even_counts.archive,
            even_counts.weekday,
            hours.hour,
            even_counts.day_count AS hour_count
        FROM even_counts
        CROSS JOIN hours
        UNION ALL
        SELECT
            odd_hours.archive,
            extract(ISODOW FROM odd_hours.hour_local)::integer AS weekday,
            extract(HOUR FROM odd_hours.hour_local)::integer AS hour,
            1 AS hour_count
        FROM odd_hours
        WHERE
            (
                SELECT coalesce(sum(upper(part.part) - lower(part.part)), interval '0')
                FROM
                    unnest(
                        odd_hours.outage_times
                        * tstzmultirange(tstzrange(odd_hours.hour_at, odd_hours.hour_at + interval '1 hour'))
                    ) AS part (part)
            ) < interval '30 minutes'
            OR EXISTS (
                SELECT FROM mart.activity_cells AS cells
                WHERE
                    cells.archive = odd_hours.archive
                    AND cells.cell_at >= odd_hours.hour_at
                    AND cells.cell_at < odd_hours.hour_at + interval '1 hour'
            )
    ) AS found
    GROUP BY found.archive, found.weekday, found.hour
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
