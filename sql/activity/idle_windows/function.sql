CREATE FUNCTION mart.idle_windows(
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
    window_count bigint,
    idle_count bigint,
    idle_ratio double precision,
    explained_count bigint,
    unexplained_count bigint,
    repeated_count bigint,
    hour_unknown_count bigint,
    is_edge boolean,
    starts_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- 1. asked_archives, archives: the local days that are read, for each archive.
-- 2. cells, by_day, seen: the ten minutes in which a transfer ended.
-- 3. spans, days: all days that are returned, active or not. Most are counted from the bits of their cells.
-- 4. odd_days, sought, active, windows, fates: days with a change of clocks or an outage, window by window.
WITH outages AS (
    SELECT * FROM mart.outages
),

day_cells AS NOT MATERIALIZED (
    SELECT * FROM mart.day_cells
),

-- The local days that the range touches are read whole, from first_on to last_on. `until` itself is not in
-- the range: if it is midnight, the day that begins then is excluded.
asked_archives AS (
    SELECT
        archives.archive,
        archives.kind,
        archives.timezone,
        -- Cells stay when transfers are forgotten.
        CASE
            WHEN idle_windows.client IS NULL THEN NULL
            WHEN archives.has_client_cells THEN archives.client_cells_since
            ELSE (archives.retained_since AT TIME ZONE archives.timezone)::date
        END AS retained_on,
        (
            coalesce(idle_windows.since, timestamptz '-infinity') AT TIME ZONE archives.timezone
        )::date AS first_on,
        (
            (coalesce(idle_windows.until, timestamptz 'infinity') - interval '1 microsecond')
            AT TIME ZONE archives.timezone
        )::date AS last_on
    FROM mart.archives
    WHERE idle_windows.archive IS NULL OR archives.archive = idle_windows.archive
),

-- Forgotten times are not idle, so they are not reported. (`greatest` ignores nulls.)
archives AS (
    SELECT
        asked_archives.archive,
        asked_archives.kind,
        asked_archives.timezone,
        greatest(asked_archives.first_on, asked_archives.retained_on) AS first_on,
        asked_archives.last_on
    FROM asked_archives
),

-- The day after the range is read too, because a day on which clocks go back across midnight contains minutes
-- of the next date. Two days are more than the longest local day. Not materialized: most parts of the query
-- need no arrays.
cells AS NOT MATERIALIZED (
    SELECT
        selected.archive,
        selected.day_only_count,
        selected.ten_minute_offsets,
        selected.ten_minute_marks,
        selected.starts_on
    FROM
        mart.selected_days(
            archive => idle_windows.archive,
            since => idle_windows.since,
            until => idle_windows.until + interval '2 days',
            interface => idle_windows.interface,
            direction => idle_windows.direction,
            client => idle_windows.client,
            class_of_service => idle_windows.class_of_service
        ) AS selected
),

by_day AS (
    SELECT
        cells.archive,
        bit_or(cells.ten_minute_marks) AS ten_minute_marks,
        sum(cells.day_only_count)::bigint AS hour_unknown_count,
        cells.starts_on
    FROM cells
    GROUP BY cells.archive, cells.starts_on
),

-- The first and the last day with a transfer.
seen AS (
    SELECT
        archives.archive,
        min(by_day.starts_on) AS first_on,
        max(by_day.starts_on) AS last_on
    FROM archives
    INNER JOIN by_day ON archives.archive = by_day.archive
    WHERE by_day.starts_on <= archives.last_on
    GROUP BY archives.archive
),

-- If the log extends before and after the range, days without any transfer count up to the edges of the
-- range. Materialized, to run once for each archive and not for each day.
spans AS MATERIALIZED (
    SELECT
        archives.*,
        seen.first_on AS first_seen_on,
        seen.last_on AS last_seen_on,
        NOT EXISTS (
            SELECT FROM day_cells
            WHERE
                day_cells.archive = archives.archive
                AND day_cells.starts_on < archives.first_on
                AND (idle_windows.interface IS NULL OR day_cells.interface = idle_windows.interface)
                AND (idle_windows.direction IS NULL OR day_cells.direction = idle_windows.direction)
                AND (
                    idle_windows.class_of_service IS NULL
                    OR day_cells.class_of_service = idle_windows.class_of_service
                )
        ) AS is_beginning,
        NOT EXISTS (
            SELECT FROM day_cells
            WHERE
                day_cells.archive = archives.archive
                AND day_cells.starts_on > archives.last_on
                AND (idle_windows.interface IS NULL OR day_cells.interface = idle_windows.interface)
                AND (idle_windows.direction IS NULL OR day_cells.direction = idle_windows.direction)
                AND (
                    idle_windows.class_of_service IS NULL
                    OR day_cells.class_of_service = idle_windows.class_of_service
                )
        ) AS is_end
    FROM archives
    LEFT JOIN seen ON archives.archive = seen.archive
    -- If no transfers of a client were read, it may not even exist.
    WHERE idle_windows.client IS NULL OR seen.first_on IS NOT NULL
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

-- is_edge: the day on which the log begins or ends. Midnights are counted in local time, so that a day can
-- have 23 or 25 hours. Materialized; otherwise the planner would compare each day with all days of by_day.
midnights AS MATERIALIZED (
    SELECT
        spans.archive,
        spans.kind,
        spans.timezone,
        (spans.is_beginning AND day.midnight::date = spans.first_seen_on)
        OR (spans.is_end AND day.midnight::date = spans.last_seen_on) AS is_edge,
        day.midnight::date AS starts_on,
        day.midnight AT TIME ZONE spans.timezone AS starts_at,
        (day.midnight + interval '1 day') AT TIME ZONE spans.timezone AS ends_at
    FROM spans
    CROSS JOIN
        generate_series(
            CASE WHEN spans.is_beginning THEN spans.first_seen_on ELSE spans.first_on END::timestamp,
            CASE WHEN spans.is_end THEN spans.last_seen_on ELSE spans.last_on END::timestamp,
            interval '1 day'
        ) AS day (midnight)
),

days AS (
    SELECT
        midnights.*,
        recorded.outage_times,
        by_day.ten_minute_marks,
        coalesce(by_day.hour_unknown_count, 0) AS hour_unknown_count,
        midnights.ends_at - midnights.starts_at <> interval '24 hours'
        OR coalesce(recorded.outage_times && tstzrange(midnights.starts_at, midnights.ends_at), FALSE)
            AS is_odd
    FROM midnights
    LEFT JOIN by_day ON midnights.archive = by_day.archive AND midnights.starts_on = by_day.starts_on
    LEFT JOIN recorded ON midnights.archive = recorded.archive
),

-- A window of a day of 24 hours is active if its bit is set. The bits begin 16 hours before the day does in
-- UTC.
even_counts AS (
    SELECT
        days.archive,
        days.kind,
        144::bigint AS window_count,
        144 - coalesce(
            bit_count(
                substring(
                    days.ten_minute_marks
                    FROM (
                        extract(EPOCH FROM days.starts_at)::bigint / 60
                        - ((days.starts_on - date '1970-01-01') * 1440 - 960)
                    )::integer / 10 + 1
                    FOR 144
                )
            ),
            0
        ) AS idle_count,
        0::bigint AS explained_count,
        0::bigint AS repeated_count,
        days.hour_unknown_count,
        days.is_edge,
        days.starts_on
    FROM days
    WHERE NOT days.is_odd
),

odd_days AS (
    SELECT days.*
    FROM days
    WHERE days.is_odd
),

-- Materialized, so that cells are joined by the day, and not only by the archive.
sought AS MATERIALIZED (
    SELECT
        odd_days.*,
        odd_days.starts_on + later.days AS read_on
    FROM odd_days
    CROSS JOIN (VALUES (0), (1)) AS later (days)
),

-- Windows are numbered backwards from the end of the day, because at its beginning clocks may have gone
-- forward by part of a window. Where clocks go back across midnight, a day begins at the second midnight, as
-- everywhere else; minutes before it have the next date. What is not in the day gets a number that no window
-- of the day has.
active AS (
    SELECT DISTINCT
        sought.archive,
        sought.starts_on,
        ceil(extract(EPOCH FROM sought.ends_at - ended.ten_minutes_at) / 600)::integer AS window_number
    FROM sought
    INNER JOIN cells ON sought.archive = cells.archive AND sought.read_on = cells.starts_on
    CROSS JOIN unnest(cells.ten_minute_offsets) AS ten (offset_minutes)
    CROSS JOIN
        LATERAL (
            VALUES
            (to_timestamp((cells.starts_on - date '1970-01-01') * 86400::bigint + ten.offset_minutes * 60))
        ) AS ended (ten_minutes_at)
),

-- Numbered as in `active`. The last number is the first window of the day, which may be shorter.
windows AS (
    SELECT
        odd_days.*,
        series.window_number,
        greatest(odd_days.ends_at - series.window_number * interval '10 minutes', odd_days.starts_at)
            AS window_at,
        odd_days.ends_at - (series.window_number - 1) * interval '10 minutes' AS window_until
    FROM odd_days
    CROSS JOIN
        generate_series(
            1, ceil(extract(EPOCH FROM odd_days.ends_at - odd_days.starts_at) / 600)::integer
        ) AS series (window_number)
),

-- is_repeated: on a day of 25 hours the clock shows an hour twice; the second pass is where the clock shows
-- the same time as an hour before. (On Lord Howe Island it is half an hour.) is_explained: idle, and outages
-- cover half of the window or more.
fates AS (
    SELECT
        windows.*,
        active.window_number IS NULL AS is_idle,
        -- In seconds, because a difference of times can contain days, and adding it would count these as days
        -- of the session's zone.
        windows.window_at AT TIME ZONE windows.timezone = (
            windows.window_at
            - make_interval(secs => extract(EPOCH FROM windows.ends_at - windows.starts_at) - 86400)
        ) AT TIME ZONE windows.timezone
        AND windows.ends_at - windows.starts_at > interval '24 hours' AS is_repeated,
        active.window_number IS NULL
        AND windows.outage_times && tstzrange(windows.window_at, windows.window_until)
        AND (
            SELECT sum(upper(part.part) - lower(part.part))
            FROM
                unnest(
                    windows.outage_times
                    * tstzmultirange(tstzrange(windows.window_at, windows.window_until))
                ) AS part (part)
        ) * 2 >= windows.window_until - windows.window_at AS is_explained
    FROM windows
    LEFT JOIN active
        ON
            windows.archive = active.archive
            AND windows.starts_on = active.starts_on
            AND windows.window_number = active.window_number
),

-- One row per day.
counts AS (
    SELECT even_counts.*
    FROM even_counts
    UNION ALL
    SELECT
        fates.archive,
        fates.kind,
        count(*) AS window_count,
        count(*) FILTER (WHERE fates.is_idle) AS idle_count,
        count(*) FILTER (WHERE fates.is_explained) AS explained_count,
        count(*) FILTER (WHERE fates.is_idle AND fates.is_repeated) AS repeated_count,
        fates.hour_unknown_count,
        fates.is_edge,
        fates.starts_on
    FROM fates
    GROUP BY fates.archive, fates.kind, fates.hour_unknown_count, fates.is_edge, fates.starts_on
)

SELECT
    counts.archive,
    counts.kind,

    counts.window_count,
    -- A transfer whose time of day is unknown may have ended in any window of its day.
    CASE WHEN counts.hour_unknown_count = 0 THEN counts.idle_count END AS idle_count,
    CASE WHEN counts.hour_unknown_count = 0 THEN counts.idle_count::double precision / counts.window_count END
        AS idle_ratio,
    CASE WHEN counts.hour_unknown_count = 0 THEN counts.explained_count END AS explained_count,
    CASE WHEN counts.hour_unknown_count = 0 THEN counts.idle_count - counts.explained_count END
        AS unexplained_count,
    CASE WHEN counts.hour_unknown_count = 0 THEN counts.repeated_count END AS repeated_count,
    counts.hour_unknown_count,

    counts.is_edge,

    counts.starts_on
FROM counts

$function$;
