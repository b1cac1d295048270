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

-- A range means whole local days. Three parts of the query read these columns, so they are stored.
cells AS MATERIALIZED (
    SELECT
        archives.archive_number,
        selected.interface,
        selected.direction,
        selected.transfer_count,
        selected.failed_count,
        selected.saturated_count,
        selected.size_bytes,
        selected.unknown_size_count,
        selected.ten_minute_offsets,
        selected.ten_minute_counts,
        selected.largest,
        selected.longest,
        selected.starts_on
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

-- The months that are wholly in the range. Their busiest ten minutes are kept, except those of one client, or
-- of a class of service together with an interface or direction.
months AS MATERIALIZED (
    SELECT
        archives.archive,
        archives.archive_number,
        spans.longer_since_at AS since_month,
        spans.longer_until_at AS until_month
    FROM
        mart.selected_spans(
            archive => records.archive,
            since => records.since,
            until => records.until
        ) AS spans
    INNER JOIN archives ON spans.archive = archives.archive
    WHERE
        spans.span = 'day'
        AND records.client IS NULL
        AND (records.class_of_service IS NULL OR num_nonnulls(records.interface, records.direction) = 0)
),

-- The ten minutes of other days. Years have millions of them, so they are grouped by one number: that of the
-- archive, times 2^32, plus the minutes since 1970, plus 2^31, because a simulated trace may begin earlier.
-- The days are in order here, because then the groups that are added to are next to each other in memory (a
-- third of the time).
counts AS (
    SELECT
        (ordered.archive_number << 32) + 2147483648
        + (ordered.starts_on - date '1970-01-01') * 1440 AS first_key,
        unnest(ordered.ten_minute_offsets) AS minutes,
        unnest(ordered.ten_minute_counts) AS transfer_count
    FROM (
        SELECT
            cells.archive_number,
            cells.starts_on,
            cells.ten_minute_offsets,
            cells.ten_minute_counts
        FROM cells
        LEFT JOIN months ON cells.archive_number = months.archive_number
        WHERE (cells.starts_on >= months.since_month AND cells.starts_on < months.until_month) IS NOT TRUE
        ORDER BY cells.starts_on ASC
    ) AS ordered
),

ten_minutes AS (
    SELECT
        sum(counts.transfer_count)::bigint AS transfer_count,
        counts.first_key + counts.minutes AS minutes_key
    FROM counts
    GROUP BY counts.first_key + counts.minutes

    UNION ALL

    SELECT
        peaks.transfer_count,
        (months.archive_number << 32) + 2147483648 + peaks.ten_minutes AS minutes_key
    FROM mart.month_peaks AS peaks
    INNER JOIN months ON peaks.archive = months.archive
    WHERE
        peaks.starts_on >= months.since_month
        AND peaks.starts_on < months.until_month
        AND peaks.interface IS NOT DISTINCT FROM records.interface
        AND peaks.direction IS NOT DISTINCT FROM records.direction
        AND peaks.class_of_service IS NOT DISTINCT FROM records.class_of_service
),

-- The first of the busiest ten minutes of each archive: the greatest number with the count in front of the
-- minutes, which are subtracted so that the earliest gives the greatest. To sort them all would cost more.
busiest AS (
    SELECT
        ten_minutes.minutes_key >> 32 AS archive_number,
        max((ten_minutes.transfer_count << 32) + 4294967295 - (ten_minutes.minutes_key & 4294967295))
            AS packed
    FROM ten_minutes
    GROUP BY ten_minutes.minutes_key >> 32
),

days AS (
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
        cells.starts_on
    FROM cells
    GROUP BY cells.starts_on, cells.archive_number
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
    CROSS JOIN
        LATERAL (
            VALUES
            (1, 'most transfers that ended in a day', days.transfer_count, 'transfers', NULL, FALSE),
            (2, 'most bytes of puts that ended in a day', days.put_bytes, 'bytes', 'put', days.is_put_bound),
            (3, 'most bytes of gets that ended in a day', days.got_bytes, 'bytes', 'get', days.is_got_bound)
        ) AS named (record_number, record, value, unit, direction, is_lower_bound)
    UNION ALL
    SELECT
        busiest.archive_number,
        4 AS record_number,
        'most transfers that ended in ten minutes' AS record,
        busiest.packed >> 32 AS value,
        'transfers' AS unit,
        NULL AS interface,
        NULL AS direction,
        FALSE AS is_lower_bound,
        FALSE AS is_hour_unknown,
        to_timestamp((4294967295 - (busiest.packed & 4294967295) - 2147483648) * 60.0) AS happened_at
    FROM busiest
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
