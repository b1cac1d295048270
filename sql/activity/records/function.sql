CREATE FUNCTION mart.records(
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
    record_number integer,
    record text,
    value double precision,
    unit text,
    interface text,
    direction text,
    happened_on date,
    happened_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- An archive has a number here, because names take twice as long to compare.
WITH archives AS MATERIALIZED (
    SELECT
        archives.archive,
        archives.kind,
        archives.timezone,
        row_number() OVER (ORDER BY archives.archive) AS archive_number
    FROM mart.archives
),

-- A range means whole local days.
cells AS NOT MATERIALIZED (
    SELECT
        archives.archive_number,
        selected.*
    FROM
        mart.selected_days(
            archive => records.archive,
            since => records.since,
            until => records.until,
            interface => records.interface,
            direction => records.direction,
            client => records.client,
            class_of_service => records.class_of_service
        ) AS selected
    INNER JOIN archives ON selected.archive = archives.archive
),

days AS MATERIALIZED (
    SELECT
        cells.archive_number,
        sum(cells.transfer_count) AS transfer_count,
        sum(cells.size_bytes) FILTER (
            WHERE
            cells.direction = 'put'
            AND cells.transfer_count > cells.failed_count + cells.unknown_size_count
        ) AS put_bytes,
        coalesce(bool_or(cells.saturated_count > 0) FILTER (WHERE cells.direction = 'put'), FALSE)
            AS is_put_bound,
        sum(cells.size_bytes) FILTER (
            WHERE
            cells.direction = 'get'
            AND cells.transfer_count > cells.failed_count + cells.unknown_size_count
        ) AS got_bytes,
        coalesce(bool_or(cells.saturated_count > 0) FILTER (WHERE cells.direction = 'get'), FALSE)
            AS is_got_bound,
        -- The greatest number that is added makes all of these texts equally long.
        decode((sum(cells.ten_minute_digits) + ('1' || repeat('0', 2688))::numeric)::text, 'escape')
            AS ten_minute_digits,
        cells.timezone,
        cells.starts_on
    FROM cells
    GROUP BY cells.starts_on, cells.archive_number, cells.timezone
),

greatest_days AS (
    SELECT
        days.archive_number,
        max(days.transfer_count) AS transfer_count,
        max(days.put_bytes) AS put_bytes,
        max(days.got_bytes) AS got_bytes
    FROM days
    GROUP BY days.archive_number
),

-- Years have millions of ten minutes. The greatest eight digits of a day's sum are the most transfers of its
-- ten minutes: the 144 ones from its beginning by the archive's clock. Near a change of clocks there may be
-- more of them, and minutes that are counted one by one.
peaks AS MATERIALIZED (
    SELECT
        days.archive_number,
        around.ends_s - around.begins_s <> 2 * 86400 AS is_near_change,
        peak.digits,
        days.starts_on
    FROM days
    CROSS JOIN
        LATERAL (
            VALUES
            (
                extract(EPOCH FROM (days.starts_on - 1)::timestamp AT TIME ZONE days.timezone),
                extract(EPOCH FROM (days.starts_on + 1)::timestamp AT TIME ZONE days.timezone),
                96 - 144 * (days.starts_on - date '1970-01-01')
            )
        ) AS around (begins_s, ends_s, first_place)
    CROSS JOIN
        LATERAL (
            SELECT max(substr(days.ten_minute_digits, 2682 - 8 * places.place, 8)) AS digits
            FROM
                generate_series(
                    around.first_place + 144 + floor(around.begins_s / 600)::integer,
                    around.first_place + 287 + floor(around.begins_s / 600)::integer
                ) AS places (place)
        ) AS peak
),

greatest_peaks AS (
    SELECT
        peaks.archive_number,
        max(peaks.digits) AS digits
    FROM peaks
    WHERE NOT peaks.is_near_change
    GROUP BY peaks.archive_number
),

peak_days AS (
    SELECT array_agg(peaks.starts_on) AS days
    FROM peaks
    LEFT JOIN greatest_peaks AS greatest ON peaks.archive_number = greatest.archive_number
    WHERE peaks.is_near_change OR peaks.digits = greatest.digits
),

-- Only the cells of days that may have the busiest ten minutes are added up by these.
ten_minutes AS (
    SELECT
        cells.archive_number,
        sum(part.transfer_count) AS transfer_count,
        part.minutes
    FROM cells
    CROSS JOIN unnest(cells.ten_minutes, cells.ten_minute_counts) AS part (minutes, transfer_count)
    WHERE cells.starts_on = any((SELECT peak_days.days FROM peak_days)::date[])
    GROUP BY cells.archive_number, part.minutes
),

-- Arrays are compared by their first elements, and where these are equal, by the next, so the earliest of
-- several equals wins.
files AS (
    SELECT
        cells.archive_number,
        cells.interface,
        cells.direction,
        max(cells.largest) AS largest,
        max(cells.longest) AS longest
    FROM cells
    GROUP BY cells.interface, cells.direction, cells.archive_number
),

candidates AS (
    SELECT
        days.archive_number,
        named.record_number,
        named.record,
        named.value,
        named.unit,
        NULL AS interface,
        named.direction,
        named.is_lower_bound,
        FALSE AS is_hour_unknown,
        days.starts_on::timestamp AT TIME ZONE archives.timezone AS happened_at
    FROM days
    INNER JOIN archives ON days.archive_number = archives.archive_number
    INNER JOIN greatest_days AS greatest ON days.archive_number = greatest.archive_number
    CROSS JOIN
        LATERAL (
            VALUES
            (1, 'most transfers that ended in a day', days.transfer_count, 'transfers', NULL, FALSE),
            (2, 'most bytes of puts that ended in a day', days.put_bytes, 'bytes', 'put', days.is_put_bound),
            (3, 'most bytes of gets that ended in a day', days.got_bytes, 'bytes', 'get', days.is_got_bound)
        ) AS named (record_number, record, value, unit, direction, is_lower_bound)
    WHERE
        days.transfer_count = greatest.transfer_count
        OR days.put_bytes = greatest.put_bytes
        OR days.got_bytes = greatest.got_bytes
    UNION ALL
    SELECT
        ten_minutes.archive_number,
        4 AS record_number,
        'most transfers that ended in ten minutes' AS record,
        ten_minutes.transfer_count AS value,
        'transfers' AS unit,
        NULL AS interface,
        NULL AS direction,
        FALSE AS is_lower_bound,
        FALSE AS is_hour_unknown,
        to_timestamp(ten_minutes.minutes::bigint * 60) AS happened_at
    FROM ten_minutes
    UNION ALL
    SELECT
        files.archive_number,
        CASE files.direction WHEN 'put' THEN 5 ELSE 6 END AS record_number,
        CASE files.direction WHEN 'put' THEN 'largest file put' ELSE 'largest file got' END AS record,
        files.largest[1] AS value,
        'bytes' AS unit,
        files.interface,
        files.direction,
        files.largest[3] = 1 AS is_lower_bound,
        files.largest[4] = 1 AS is_hour_unknown,
        timestamptz 'epoch' - files.largest[2] * interval '1 microsecond' AS happened_at
    FROM files
    UNION ALL
    SELECT
        files.archive_number,
        7 AS record_number,
        'longest transfer' AS record,
        files.longest[1] AS value,
        's' AS unit,
        files.interface,
        files.direction,
        FALSE AS is_lower_bound,
        files.longest[3] = 1 AS is_hour_unknown,
        timestamptz 'epoch' - files.longest[2] * interval '1 microsecond' AS happened_at
    FROM files
)

SELECT DISTINCT ON (archives.archive, candidates.record_number)
    archives.archive,
    archives.kind,
    candidates.record_number,
    candidates.record || CASE WHEN candidates.is_lower_bound THEN ' (at least)' ELSE '' END AS record,

    candidates.value,
    candidates.unit,
    candidates.interface,
    candidates.direction,

    (candidates.happened_at AT TIME ZONE archives.timezone)::date AS happened_on,
    CASE WHEN NOT candidates.is_hour_unknown THEN candidates.happened_at END AS happened_at
FROM candidates
INNER JOIN archives ON candidates.archive_number = archives.archive_number
WHERE candidates.value IS NOT NULL
ORDER BY
    archives.archive ASC,
    candidates.record_number ASC,
    candidates.value DESC,
    candidates.happened_at ASC,
    candidates.interface ASC,
    candidates.direction ASC

$function$;
