CREATE FUNCTION mart.figure_trends(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    section text DEFAULT NULL,
    days_ahead integer DEFAULT 30
) RETURNS TABLE (
    archive text,
    kind text,
    source text,
    system text,
    section text,
    user_id integer,
    gateway text,
    client text,
    application text,
    storage_class text,
    storage_class_number text,
    drive_type text,
    library text,
    to_library text,
    vsn text,
    figure text,
    is_total boolean,
    day_count bigint,
    week_count bigint,
    mean double precision,
    change_per_day double precision,
    change_per_day_low double precision,
    change_per_day_high double precision,
    verdict text,
    expected double precision,
    expected_low double precision,
    expected_high double precision,
    first_reported_on date,
    last_reported_on date,
    expected_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH archives AS (
    SELECT * FROM mart.archives
),

-- Equal numbers are of the same figure, also where some of the columns are null.
figures AS MATERIALIZED (
    SELECT
        figures.*,
        dense_rank() OVER (
            ORDER BY
                figures.archive,
                figures.source,
                figures.system,
                figures.section,
                figures.user_id,
                figures.gateway,
                figures.client,
                figures.application,
                figures.storage_class,
                figures.storage_class_number,
                figures.drive_type,
                figures.library,
                figures.to_library,
                figures.vsn,
                figures.figure,
                figures.is_total
        ) AS trend
    FROM mart.daily_figures AS figures
    INNER JOIN archives ON figures.archive = archives.archive
    WHERE
        (figure_trends.archive IS NULL OR figures.archive = figure_trends.archive)
        AND (figure_trends.section IS NULL OR figures.section = figure_trends.section)
        AND figures.reported_on::timestamp AT TIME ZONE archives.timezone
        >= coalesce(figure_trends.since, timestamptz '-infinity')
        AND figures.reported_on::timestamp AT TIME ZONE archives.timezone
        < coalesce(figure_trends.until, timestamptz 'infinity')
),

-- Days of one week resemble each other, so weeks are the points of the line, and weigh as much as they have
-- days. Sums are in order, because floats give the same sum only in the same order.
weeks AS (
    SELECT
        figures.trend,
        date_trunc('week', figures.reported_on::timestamp) AS week,
        count(*)::double precision AS day_count,
        avg(figures.value ORDER BY figures.reported_on) AS value,
        avg(figures.reported_on - date '2000-01-01')::double precision AS day,
        min(figures.reported_on) AS first_reported_on,
        max(figures.reported_on) AS last_reported_on
    FROM figures
    GROUP BY figures.trend, week
),

means AS (
    SELECT
        weeks.trend,
        sum(weeks.day_count) AS day_count,
        count(*) AS week_count,
        sum(weeks.day_count * weeks.day ORDER BY weeks.week) / sum(weeks.day_count) AS day,
        sum(weeks.day_count * weeks.value ORDER BY weeks.week) / sum(weeks.day_count) AS value,
        min(weeks.first_reported_on) AS first_reported_on,
        max(weeks.last_reported_on) AS last_reported_on
    FROM weeks
    GROUP BY weeks.trend
),

-- Sums of differences from the means keep digits that sums of squares would lose.
lines AS (
    SELECT
        means.*,
        sums.day_squares,
        sums.products / nullif(sums.day_squares, 0) AS change_per_day
    FROM means
    CROSS JOIN LATERAL (
        SELECT
            sum(weeks.day_count * (weeks.day - means.day) ^ 2 ORDER BY weeks.week) AS day_squares,
            sum(
                weeks.day_count * (weeks.day - means.day) * (weeks.value - means.value) ORDER BY weeks.week
            ) AS products
        FROM weeks
        WHERE weeks.trend = means.trend
    ) AS sums
),

-- The variance of a day about the line, times the square of Student's t. Of one or two weeks, there is none,
-- and t is of no importance.
squares AS (
    SELECT
        lines.*,
        sums.residual_squares
        / nullif(lines.week_count - 2, 0)
        * mart.student_t_quantile(0.975, greatest(lines.week_count - 2, 1)) ^ 2 AS square,
        dates.expected_on,
        dates.expected_on - date '2000-01-01' - lines.day AS distance
    FROM lines
    CROSS JOIN
        LATERAL (
            SELECT
                sum(
                    weeks.day_count
                    * (weeks.value - lines.value - lines.change_per_day * (weeks.day - lines.day)) ^ 2
                    ORDER BY weeks.week
                ) AS residual_squares
            FROM weeks
            WHERE weeks.trend = lines.trend
        ) AS sums
    CROSS JOIN
        LATERAL (
            -- A date beyond a century is no forecast, and could be later than any date there is.
            VALUES (lines.last_reported_on + least(figure_trends.days_ahead, 36525))
        ) AS dates (expected_on)
),

trends AS (
    SELECT
        squares.*,
        sqrt(squares.square / nullif(squares.day_squares, 0)) AS change_margin,
        squares.value + squares.change_per_day * squares.distance AS expected,
        sqrt(
            squares.square
            * (
                1 / 7::double precision
                + 1 / squares.day_count
                + squares.distance ^ 2 / nullif(squares.day_squares, 0)
            )
        ) AS expected_margin
    FROM squares
)

SELECT DISTINCT ON (trends.trend)
    figures.archive,
    figures.kind,
    figures.source,
    figures.system,
    figures.section,
    figures.user_id,
    figures.gateway,
    figures.client,
    figures.application,
    figures.storage_class,
    figures.storage_class_number,
    figures.drive_type,
    figures.library,
    figures.to_library,
    figures.vsn,
    figures.figure,
    figures.is_total,

    trends.day_count::bigint AS day_count,
    trends.week_count,
    trends.value AS mean,
    trends.change_per_day,
    trends.change_per_day - trends.change_margin AS change_per_day_low,
    trends.change_per_day + trends.change_margin AS change_per_day_high,
    CASE
        WHEN trends.change_margin IS NULL THEN 'not known'
        WHEN trends.change_per_day > trends.change_margin THEN 'rising'
        WHEN trends.change_per_day < -trends.change_margin THEN 'falling'
        ELSE 'no trend'
    END AS verdict,
    trends.expected,
    trends.expected - trends.expected_margin AS expected_low,
    trends.expected + trends.expected_margin AS expected_high,

    trends.first_reported_on,
    trends.last_reported_on,
    trends.expected_on
FROM trends
INNER JOIN figures ON trends.trend = figures.trend
ORDER BY trends.trend

$function$;
