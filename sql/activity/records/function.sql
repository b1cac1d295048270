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

WITH transfers AS (
    SELECT selected.*
    FROM
        mart.selected_transfers(
            archive => records.archive,
            since => records.since,
            until => records.until,
            interface => records.interface,
            direction => records.direction,
            client => records.client,
            class_of_service => records.class_of_service
        ) AS selected
),

archives AS (
    SELECT * FROM mart.archives
),

asked_for AS (
    SELECT
        transfers.archive,
        transfers.kind,
        archives.timezone,
        transfers.interface,
        transfers.direction,
        transfers.size_bytes,
        transfers.duration_s,
        transfers.is_failed,
        transfers.is_size_saturated,
        transfers.is_time_of_day_unknown,
        transfers.is_of_parts,
        transfers.ended_at,
        date_trunc('day', transfers.ended_at, archives.timezone) AS day_at,
        -- Ten minutes of the local clock; the two passes of a repeated hour stay apart.
        transfers.ended_at - (
            transfers.ended_at AT TIME ZONE archives.timezone
            - date_bin('10 minutes', transfers.ended_at AT TIME ZONE archives.timezone, date '2000-01-01')
        ) AS cell_at
    FROM transfers
    INNER JOIN archives ON transfers.archive = archives.archive
),

-- Each transfer is read once for all records. Arrays are compared by their first elements, and where these
-- are equal, by the next, so the earliest of several equals wins. Sizes are exact below 2^53 bytes.
cells AS MATERIALIZED (
    SELECT
        asked_for.archive,
        asked_for.kind,
        asked_for.timezone,
        asked_for.interface,
        asked_for.direction,
        count(*) AS transfer_count,
        sum(asked_for.size_bytes) FILTER (WHERE NOT asked_for.is_failed) AS size_bytes,
        coalesce(bool_or(asked_for.is_size_saturated) FILTER (WHERE NOT asked_for.is_failed), FALSE)
            AS is_saturated,
        max(
            ARRAY[
                asked_for.size_bytes,
                -extract(EPOCH FROM asked_for.ended_at)::double precision,
                asked_for.is_size_saturated::integer,
                asked_for.is_time_of_day_unknown::integer
            ]
        ) FILTER (
            WHERE NOT asked_for.is_failed AND NOT asked_for.is_of_parts AND asked_for.size_bytes IS NOT NULL
        ) AS largest,
        max(
            ARRAY[
                asked_for.duration_s,
                -extract(EPOCH FROM asked_for.ended_at)::double precision,
                asked_for.is_time_of_day_unknown::integer
            ]
        ) FILTER (WHERE NOT asked_for.is_failed AND asked_for.duration_s IS NOT NULL) AS longest,
        asked_for.is_time_of_day_unknown,
        asked_for.day_at,
        asked_for.cell_at
    FROM asked_for
    GROUP BY
        asked_for.cell_at,
        asked_for.is_time_of_day_unknown,
        asked_for.day_at,
        asked_for.interface,
        asked_for.direction,
        asked_for.archive,
        asked_for.kind,
        asked_for.timezone
),

ten_minutes AS (
    SELECT
        cells.archive,
        cells.kind,
        cells.timezone,
        sum(cells.transfer_count) AS transfer_count,
        cells.cell_at
    FROM cells
    WHERE NOT cells.is_time_of_day_unknown
    GROUP BY cells.archive, cells.kind, cells.timezone, cells.cell_at
),

days AS (
    SELECT
        cells.archive,
        cells.kind,
        cells.timezone,
        sum(cells.transfer_count) AS transfer_count,
        sum(cells.size_bytes) FILTER (WHERE cells.direction = 'put') AS put_bytes,
        coalesce(bool_or(cells.is_saturated) FILTER (WHERE cells.direction = 'put'), FALSE) AS is_put_bound,
        sum(cells.size_bytes) FILTER (WHERE cells.direction = 'get') AS got_bytes,
        coalesce(bool_or(cells.is_saturated) FILTER (WHERE cells.direction = 'get'), FALSE) AS is_got_bound,
        cells.day_at
    FROM cells
    GROUP BY cells.archive, cells.kind, cells.timezone, cells.day_at
),

files AS (
    SELECT
        cells.archive,
        cells.kind,
        cells.timezone,
        cells.interface,
        cells.direction,
        max(cells.largest) AS largest,
        max(cells.longest) AS longest
    FROM cells
    GROUP BY cells.archive, cells.kind, cells.timezone, cells.interface, cells.direction
),

candidates AS (
    SELECT
        days.archive,
        days.kind,
        days.timezone,
        named.record_number,
        named.record,
        named.value,
        named.unit,
        NULL AS interface,
        named.direction,
        named.is_lower_bound,
        FALSE AS is_hour_unknown,
        days.day_at AS happened_at
    FROM days
    CROSS JOIN
        LATERAL (
            VALUES
            (1, 'most transfers that ended in a day', days.transfer_count, 'transfers', NULL, FALSE),
            (2, 'most bytes of puts that ended in a day', days.put_bytes, 'bytes', 'put', days.is_put_bound),
            (3, 'most bytes of gets that ended in a day', days.got_bytes, 'bytes', 'get', days.is_got_bound)
        ) AS named (record_number, record, value, unit, direction, is_lower_bound)
    UNION ALL
    SELECT
        ten_minutes.archive,
        ten_minutes.kind,
        ten_minutes.timezone,
        4 AS record_number,
        'most transfers that ended in ten minutes' AS record,
        ten_minutes.transfer_count AS value,
        'transfers' AS unit,
        NULL AS interface,
        NULL AS direction,
        FALSE AS is_lower_bound,
        FALSE AS is_hour_unknown,
        ten_minutes.cell_at AS happened_at
    FROM ten_minutes
    UNION ALL
    SELECT
        files.archive,
        files.kind,
        files.timezone,
        CASE files.direction WHEN 'put' THEN 5 ELSE 6 END AS record_number,
        CASE files.direction WHEN 'put' THEN 'largest file put' ELSE 'largest file got' END AS record,
        files.largest[1] AS value,
        'bytes' AS unit,
        files.interface,
        files.direction,
        files.largest[3] = 1 AS is_lower_bound,
        files.largest[4] = 1 AS is_hour_unknown,
        to_timestamp(-files.largest[2]) AS happened_at
    FROM files
    UNION ALL
    SELECT
        files.archive,
        files.kind,
        files.timezone,
        7 AS record_number,
        'longest transfer' AS record,
        files.longest[1] AS value,
        's' AS unit,
        files.interface,
        files.direction,
        FALSE AS is_lower_bound,
        files.longest[3] = 1 AS is_hour_unknown,
        to_timestamp(-files.longest[2]) AS happened_at
    FROM files
)

SELECT DISTINCT ON (candidates.archive, candidates.record_number)
    candidates.archive,
    candidates.kind,
    candidates.record_number,
    candidates.record || CASE WHEN candidates.is_lower_bound THEN ' (at least)' ELSE '' END AS record,

    candidates.value,
    candidates.unit,
    candidates.interface,
    candidates.direction,

    (candidates.happened_at AT TIME ZONE candidates.timezone)::date AS happened_on,
    CASE WHEN NOT candidates.is_hour_unknown THEN candidates.happened_at END AS happened_at
FROM candidates
WHERE candidates.value IS NOT NULL
ORDER BY
    candidates.archive ASC,
    candidates.record_number ASC,
    candidates.value DESC,
    candidates.happened_at ASC,
    candidates.interface ASC,
    candidates.direction ASC

$function$;
