CREATE FUNCTION mart.drives_needed(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    location text DEFAULT NULL,
    tape_type text DEFAULT NULL,
    drive text DEFAULT NULL,
    growth_ratio double precision DEFAULT 1,
    busy_ratio double precision DEFAULT 0.7
) RETURNS TABLE (
    archive text,
    kind text,
    day_count bigint,
    week_count bigint,
    drive_count bigint,
    mount_count bigint,
    size_bytes numeric,
    mounts_per_day double precision,
    bytes_per_day double precision,
    drive_s_per_mount double precision,
    bytes_per_drive_s double precision,
    drive_hours_per_day double precision,
    drive_hours_per_day_low double precision,
    drive_hours_per_day_high double precision,
    busiest_hour_drive_count double precision,
    needed_count double precision,
    needed_count_low double precision,
    needed_count_high double precision,
    busiest_hour_needed_count double precision,
    busiest_at timestamptz,
    first_on date,
    last_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- The log covers only a part of its first and last days.
WITH covered AS (
    SELECT
        coverage.archive,
        coverage.kind,
        coverage.timezone,
        greatest(
            (coverage.first_event_at AT TIME ZONE coverage.timezone)::date + 1,
            (drives_needed.since AT TIME ZONE coverage.timezone)::date
        ) AS first_on,
        least(
            (coverage.last_event_at AT TIME ZONE coverage.timezone)::date - 1,
            ((drives_needed.until - interval '1 microsecond') AT TIME ZONE coverage.timezone)::date
        ) AS last_on
    FROM mart.tape_coverage AS coverage
    WHERE
        (drives_needed.archive IS NULL OR coverage.archive = drives_needed.archive)
        -- If no log reports dismounts, it is not known how long a drive was occupied.
        AND coverage.has_dismounts
),

-- Sums of numbers do not depend on the order of rows.
hours AS MATERIALIZED (
    SELECT
        hours.archive,
        hours.starts_on,
        hours.starts_at,
        sum(hours.occupied_s::numeric) AS drive_s,
        sum(hours.occupied_ratio::numeric)::double precision AS drive_count
    FROM
        mart.drive_hours(
            archive => drives_needed.archive,
            since => drives_needed.since,
            until => drives_needed.until,
            interface => drives_needed.interface,
            location => drives_needed.location,
            tape_type => drives_needed.tape_type,
            drive => drives_needed.drive,
            period => 'hour'
        ) AS hours
    INNER JOIN covered ON hours.archive = covered.archive
    WHERE hours.starts_on BETWEEN covered.first_on AND covered.last_on
    GROUP BY hours.archive, hours.starts_on, hours.starts_at
),

busiest AS (
    SELECT DISTINCT ON (hours.archive)
        hours.archive,
        hours.drive_count,
        hours.starts_at
    FROM hours
    ORDER BY hours.archive ASC, hours.drive_count DESC, hours.starts_at ASC
),

sums AS (
    SELECT
        hours.archive,
        hours.starts_on,
        sum(hours.drive_s) AS drive_s
    FROM hours
    GROUP BY hours.archive, hours.starts_on
),

-- Days on which no drive was used count, too.
days AS (
    SELECT
        covered.archive,
        date_trunc('week', days.day)::date AS week_on,
        coalesce(sums.drive_s, 0) AS drive_s
    FROM covered
    CROSS JOIN
        LATERAL generate_series(
            covered.first_on::timestamp, covered.last_on::timestamp, interval '1 day'
        ) AS days (day)
    LEFT JOIN sums ON covered.archive = sums.archive AND days.day::date = sums.starts_on
),

weeks AS (
    SELECT
        days.archive,
        days.week_on,
        count(*) AS day_count,
        sum(days.drive_s) / 3600 AS drive_hours
    FROM days
    GROUP BY days.archive, days.week_on
),

deviations AS (
    SELECT
        weeks.*,
        weeks.drive_hours
        - weeks.day_count
        * sum(weeks.drive_hours) OVER of_archive
        / sum(weeks.day_count) OVER of_archive AS excess_hours
    FROM weeks
    WINDOW of_archive AS (PARTITION BY weeks.archive)
),

neighbours AS (
    SELECT
        deviations.*,
        lag(deviations.excess_hours) OVER (
            PARTITION BY deviations.archive ORDER BY deviations.week_on
        ) AS last_excess_hours
    FROM deviations
),

-- Days of one week resemble each other, so weeks are the spans whose variation is chance. Busy times last
-- longer than a week, and begin in the middle of one, so the variance has what neighbouring weeks share.
totals AS (
    SELECT
        neighbours.archive,
        sum(neighbours.day_count)::bigint AS day_count,
        count(*) AS week_count,
        sum(neighbours.drive_hours) AS drive_hours,
        (
            sum(neighbours.excess_hours ^ 2)
            + 2 * greatest(sum(neighbours.excess_hours * neighbours.last_excess_hours), 0)
        )
        * count(*)
        / nullif(count(*) - 1, 0)
        / sum(neighbours.day_count) AS day_variance
    FROM neighbours
    GROUP BY neighbours.archive
),

mounts AS (
    SELECT
        covered.archive,
        count(DISTINCT selected.drive) AS drive_count,
        count(*) AS mount_count,
        sum(selected.size_bytes) AS size_bytes
    FROM covered
    INNER JOIN
        mart.selected_mounts(
            archive => drives_needed.archive,
            since => drives_needed.since,
            until => drives_needed.until,
            interface => drives_needed.interface,
            location => drives_needed.location,
            tape_type => drives_needed.tape_type,
            drive => drives_needed.drive
        ) AS selected
        ON covered.archive = selected.archive
    -- Mounts that began on the days that count.
    WHERE
        (selected.occupied_from AT TIME ZONE selected.timezone)::date
        BETWEEN covered.first_on AND covered.last_on
    GROUP BY covered.archive
),

-- The mean of as many days to come varies, and that of the range is only known from its days. Weeks count as
-- half as many that are independent. With fewer than eight, too few days to come are within the interval.
known AS (
    SELECT
        totals.*,
        (totals.drive_hours / totals.day_count)::double precision AS per_day,
        CASE
            WHEN totals.day_count >= 56
                THEN
                    sqrt(totals.day_variance * 2 / totals.day_count)::double precision
                    * mart.student_t_quantile(0.975, totals.week_count / 2)
        END AS margin
    FROM totals
),

bounded AS (
    SELECT
        known.*,
        CASE WHEN known.per_day < known.margin THEN 0 ELSE known.per_day - known.margin END AS per_day_low,
        known.per_day + known.margin AS per_day_high
    FROM known
)

SELECT
    covered.archive,
    covered.kind,

    bounded.day_count,
    bounded.week_count,
    mounts.drive_count,
    mounts.mount_count,
    mounts.size_bytes,
    mounts.mount_count::double precision / bounded.day_count AS mounts_per_day,
    mounts.size_bytes::double precision / bounded.day_count AS bytes_per_day,
    (bounded.drive_hours * 3600)::double precision / nullif(mounts.mount_count, 0) AS drive_s_per_mount,
    mounts.size_bytes::double precision / nullif(bounded.drive_hours * 3600, 0)::double precision
        AS bytes_per_drive_s,
    bounded.per_day AS drive_hours_per_day,
    bounded.per_day_low AS drive_hours_per_day_low,
    bounded.per_day_high AS drive_hours_per_day_high,
    busiest.drive_count AS busiest_hour_drive_count,

    ceil(bounded.per_day * scales.needed_per_hour) AS needed_count,
    ceil(bounded.per_day_low * scales.needed_per_hour) AS needed_count_low,
    ceil(bounded.per_day_high * scales.needed_per_hour) AS needed_count_high,
    ceil(busiest.drive_count * scales.growth_ratio) AS busiest_hour_needed_count,

    busiest.starts_at AS busiest_at,
    covered.first_on,
    covered.last_on
FROM covered
INNER JOIN bounded ON covered.archive = bounded.archive
INNER JOIN mounts ON covered.archive = mounts.archive
INNER JOIN busiest ON covered.archive = busiest.archive
CROSS JOIN
    LATERAL (
        VALUES
        (
            CASE WHEN drives_needed.growth_ratio >= 0 THEN drives_needed.growth_ratio END,
            CASE
                WHEN
                    drives_needed.growth_ratio >= 0
                    AND drives_needed.busy_ratio > 0
                    AND drives_needed.busy_ratio <= 1
                    THEN drives_needed.growth_ratio / drives_needed.busy_ratio / 24
            END
        )
    ) AS scales (growth_ratio, needed_per_hour)

$function$;
