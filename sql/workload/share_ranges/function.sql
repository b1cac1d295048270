CREATE FUNCTION mart.share_ranges(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    period text DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    range_s double precision,
    since_at timestamptz,
    until_at timestamptz,
    starts_on date,
    ends_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH logs AS (
    SELECT
        day_cells.archive,
        day_cells.kind,
        day_cells.timezone,
        min(day_cells.starts_on) AS first_on,
        max(day_cells.starts_on) AS last_on
    FROM mart.day_cells
    WHERE share_ranges.archive IS NULL OR day_cells.archive = share_ranges.archive
    GROUP BY day_cells.archive, day_cells.kind, day_cells.timezone
),

-- The last day of a log may go on, so it is not closed.
closed AS (
    SELECT
        logs.*,
        date_trunc(
            CASE WHEN share_ranges.period IN ('day', 'week', 'month', 'year') THEN share_ranges.period END,
            coalesce(share_ranges.until AT TIME ZONE logs.timezone, logs.last_on)
        ) AS until_local
    FROM logs
),

asked AS (
    SELECT
        closed.*,
        CASE
            WHEN share_ranges.period IS NULL THEN (share_ranges.since AT TIME ZONE closed.timezone)::date
            ELSE (closed.until_local - ('1 ' || share_ranges.period)::interval)::date
        END AS since_on,
        CASE
            WHEN share_ranges.period IS NULL
                THEN ((share_ranges.until - interval '1 microsecond') AT TIME ZONE closed.timezone)::date
            ELSE closed.until_local::date - 1
        END AS until_on
    FROM closed
    WHERE
        (share_ranges.period IS NULL OR closed.until_local IS NOT NULL)
        AND coalesce(share_ranges.since, timestamptz '-infinity')
        < coalesce(share_ranges.until, timestamptz 'infinity')
),

-- Without the days before and after the log, which may have had transfers.
ranges AS (
    SELECT
        asked.*,
        greatest(asked.since_on, asked.first_on) AS starts_on,
        least(asked.until_on, asked.last_on) AS ends_on
    FROM asked
)

-- Where clocks change at midnight, the next day may begin at 1:00. A range that ends within its last day
-- selects no other.
SELECT
    ranges.archive,
    ranges.kind,
    extract(
        EPOCH FROM
        (ranges.ends_on + 1)::timestamp AT TIME ZONE ranges.timezone
        - ranges.starts_on::timestamp AT TIME ZONE ranges.timezone
    )::double precision AS range_s,
    ranges.starts_on::timestamp AT TIME ZONE ranges.timezone AS since_at,
    ranges.ends_on::timestamp AT TIME ZONE ranges.timezone + interval '1 microsecond' AS until_at,
    ranges.starts_on,
    ranges.ends_on
FROM ranges
WHERE ranges.starts_on <= ranges.ends_on

$function$;
