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

-- 1. asked_archives, archives, ranges: the local days that are read, for each archive.
-- 2. asked_for, fives, dated, active, unknown: the windows in which a transfer ended, and the days on which a
--    transfer ended at an unknown hour.
-- 3. seen, spans, days, windows: all windows of the days that are returned, active or not.
-- 4. recorded, fates, counts: windows of 2 and 3 joined; a window without a match is idle, and perhaps
--    explained by outages.
WITH transfers AS (
    SELECT * FROM mart.transfers
),

-- Not materialized, so that each part of the query reads only the cells that it asks for.
cells AS NOT MATERIALIZED (
    SELECT * FROM mart.activity_cells
),

outages AS (
    SELECT * FROM mart.outages
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
            WHEN coalesce(idle_windows.client, idle_windows.class_of_service) IS NOT NULL
                THEN (archives.retained_since AT TIME ZONE archives.timezone)::date
        END AS retained_on,
        row_number() OVER (ORDER BY archives.archive) AS archive_number,
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
        asked_archives.archive_number,
        greatest(asked_archives.first_on, asked_archives.retained_on) AS first_on,
        asked_archives.last_on
    FROM asked_archives
),

ranges AS (
    SELECT
        archives.*,
        archives.first_on::timestamp AT TIME ZONE archives.timezone AS first_at,
        (archives.last_on + 1)::timestamp AT TIME ZONE archives.timezone AS last_at
    FROM archives
),

-- The cells do not distinguish clients and classes; otherwise they give the same answer as the transfers, but
-- faster. The margin of two days (longer than any local day) only keeps other partitions from being read;
-- anything outside the requested days is left out below. With `coalesce` instead of `IS NULL OR`, partitions
-- are also pruned by times that are known only at execution (now() - ...).
asked_for AS (
    SELECT
        cells.archive,
        cells.transfer_count,
        cells.is_time_of_day_unknown,
        cells.cell_at AS happened_at
    FROM cells
    WHERE
        idle_windows.client IS NULL
        AND idle_windows.class_of_service IS NULL
        AND cells.cell_at >= coalesce(idle_windows.since, timestamptz '-infinity') - interval '2 days'
        AND cells.cell_at < coalesce(idle_windows.until, timestamptz 'infinity') + interval '2 days'
        AND (idle_windows.interface IS NULL OR cells.interface = idle_windows.interface)
        AND (idle_windows.direction IS NULL OR cells.direction = idle_windows.direction)
    UNION ALL
    SELECT
        transfers.archive,
        1 AS transfer_count,
        transfers.is_time_of_day_unknown,
        transfers.ended_at AS happened_at
    FROM transfers
    WHERE
        (idle_windows.client IS NOT NULL OR idle_windows.class_of_service IS NOT NULL)
        AND transfers.ended_at >= coalesce(idle_windows.since, timestamptz '-infinity') - interval '2 days'
        AND transfers.ended_at < coalesce(idle_windows.until, timestamptz 'infinity') + interval '2 days'
        AND (idle_windows.interface IS NULL OR transfers.interface = idle_windows.interface)
        AND (idle_windows.direction IS NULL OR transfers.direction = idle_windows.direction)
        AND (idle_windows.client IS NULL OR transfers.client = idle_windows.client)
        AND (
            idle_windows.class_of_service IS NULL
            OR transfers.class_of_service = idle_windows.class_of_service
        )
),

-- Windows begin at a multiple of five minutes of UTC in every zone, so transfers that ended within the same
-- five minutes ended in the same window. Local time is slow to compute; this way it is computed once for each
-- five minutes instead of for each transfer.
fives AS (
    SELECT
        ranges.archive_number,
        ranges.timezone,
        asked_for.is_time_of_day_unknown,
        sum(asked_for.transfer_count)::bigint AS transfer_count,
        date_bin(interval '5 minutes', asked_for.happened_at, timestamptz '2000-01-01 00:00Z') AS five_at
    FROM asked_for
    INNER JOIN ranges ON asked_for.archive = ranges.archive
    WHERE asked_for.happened_at >= ranges.first_at AND asked_for.happened_at < ranges.last_at
    GROUP BY ranges.archive_number, ranges.timezone, asked_for.is_time_of_day_unknown, five_at
),

-- Where clocks go back across midnight, a day begins at the second midnight, as everywhere else.
dated AS (
    SELECT
        fives.archive_number,
        fives.timezone,
        fives.is_time_of_day_unknown,
        fives.transfer_count,
        fives.five_at,
        (fives.five_at AT TIME ZONE fives.timezone)::date
        - (date_trunc('day', fives.five_at, fives.timezone) > fives.five_at)::integer AS starts_on
    FROM fives
),

-- Windows are numbered backwards from the end of the day, because at its beginning clocks may have gone
-- forward by part of a window.
active AS (
    SELECT DISTINCT
        dated.archive_number,
        dated.starts_on,
        ceil(
            extract(
                EPOCH FROM (dated.starts_on + 1)::timestamp AT TIME ZONE dated.timezone - dated.five_at
            ) / 600
        )::integer AS window_number
    FROM dated
),

unknown AS (
    SELECT
        dated.archive_number,
        dated.starts_on,
        sum(dated.transfer_count)::bigint AS transfer_count
    FROM dated
    WHERE dated.is_time_of_day_unknown
    GROUP BY dated.archive_number, dated.starts_on
),

-- The first and the last day with a transfer.
seen AS (
    SELECT
        dated.archive_number,
        min(dated.starts_on) AS first_on,
        max(dated.starts_on) AS last_on
    FROM dated
    GROUP BY dated.archive_number
),

-- If the log extends before and after the range, days without any transfer count up to the edges of the
-- range. Materialized, to run once for each archive and not for each window.
spans AS MATERIALIZED (
    SELECT
        ranges.*,
        seen.first_on AS first_seen_on,
        seen.last_on AS last_seen_on,
        NOT EXISTS (
            SELECT FROM cells
            WHERE
                cells.archive = ranges.archive
                AND cells.cell_at < ranges.first_at
                AND (idle_windows.interface IS NULL OR cells.interface = idle_windows.interface)
                AND (idle_windows.direction IS NULL OR cells.direction = idle_windows.direction)
        ) AS is_beginning,
        NOT EXISTS (
            SELECT FROM cells
            WHERE
                cells.archive = ranges.archive
                AND cells.cell_at >= ranges.last_at
                AND (idle_windows.interface IS NULL OR cells.interface = idle_windows.interface)
                AND (idle_windows.direction IS NULL OR cells.direction = idle_windows.direction)
        ) AS is_end
    FROM ranges
    LEFT JOIN seen ON ranges.archive_number = seen.archive_number
    -- If no transfers of a client or class were read, it may not even exist.
    WHERE coalesce(idle_windows.client, idle_windows.class_of_service) IS NULL OR seen.first_on IS NOT NULL
),

-- is_edge: the day on which the log begins or ends. Midnights are counted in local time, so that a day can
-- have 23 or 25 hours.
days AS (
    SELECT
        spans.archive,
        spans.kind,
        spans.timezone,
        spans.archive_number,
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

-- Numbered as in `active`. The last number is the first window of the day, which may be shorter.
windows AS (
    SELECT
        days.*,
        series.window_number,
        greatest(days.ends_at - series.window_number * interval '10 minutes', days.starts_at) AS window_at,
        days.ends_at - (series.window_number - 1) * interval '10 minutes' AS window_until
    FROM days
    CROSS JOIN
        generate_series(
            1, ceil(extract(EPOCH FROM days.ends_at - days.starts_at) / 600)::integer
        ) AS series (window_number)
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
        AND coalesce(recorded.outage_times && tstzrange(windows.window_at, windows.window_until), FALSE)
        AND (
            SELECT sum(upper(part.part) - lower(part.part))
            FROM
                unnest(
                    recorded.outage_times
                    * tstzmultirange(tstzrange(windows.window_at, windows.window_until))
                ) AS part (part)
        ) * 2 >= windows.window_until - windows.window_at AS is_explained
    FROM windows
    LEFT JOIN active
        ON
            windows.archive_number = active.archive_number
            AND windows.starts_on = active.starts_on
            AND windows.window_number = active.window_number
    LEFT JOIN recorded ON windows.archive = recorded.archive
),

-- One row per day.
counts AS (
    SELECT
        fates.archive,
        fates.kind,
        count(*) AS window_count,
        count(*) FILTER (WHERE fates.is_idle) AS idle_count,
        count(*) FILTER (WHERE fates.is_explained) AS explained_count,
        count(*) FILTER (WHERE fates.is_idle AND NOT fates.is_explained) AS unexplained_count,
        count(*) FILTER (WHERE fates.is_idle AND fates.is_repeated) AS repeated_count,
        coalesce(unknown.transfer_count, 0) AS hour_unknown_count,
        fates.is_edge,
        fates.starts_on
    FROM fates
    LEFT JOIN unknown ON fates.archive_number = unknown.archive_number AND fates.starts_on = unknown.starts_on
    GROUP BY fates.archive, fates.kind, unknown.transfer_count, fates.is_edge, fates.starts_on
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
    CASE WHEN counts.hour_unknown_count = 0 THEN counts.unexplained_count END AS unexplained_count,
    CASE WHEN counts.hour_unknown_count = 0 THEN counts.repeated_count END AS repeated_count,
    counts.hour_unknown_count,

    counts.is_edge,

    counts.starts_on
FROM counts

$function$;
