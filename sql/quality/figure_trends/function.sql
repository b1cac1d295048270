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
figures AS (
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
        date_trunc('week', figures.reported_on::timestamp) AS week,
        count(*)::double precision AS day_count,
        avg(figures.value ORDER BY figures.reported_on) AS value,
        avg(figures.reported_on - date '2000-01-01')::double precision AS day,
        min(figures.reported_on) AS first_reported_on,
        max(figures.reported_on) AS last_reported_on
    FROM figures
    GROUP BY
        figures.trend,
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
        week
),

-- The sums of a figure are in the rows of all its weeks. A join of sums with weeks would compare each figure
-- with each week of every other, because the planner expects few of them.
means AS (
    SELECT
        weeks.*,
        sum(weeks.day_count) OVER figure AS all_day_count,
        count(*) OVER figure AS week_count,
        sum(weeks.day_count * weeks.day) OVER figure / sum(weeks.day_count) OVER figure AS mean_day,
        sum(weeks.day_count * weeks.value) OVER figure / sum(weeks.day_count) OVER figure AS mean,
        min(weeks.first_reported_on) OVER figure AS first_on,
        max(weeks.last_reported_on) OVER figure AS last_on
    FROM weeks
    WINDOW
        figure AS (
            PARTITION BY weeks.trend ORDER BY weeks.week
            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
        )
),

-- Sums of differences from the means keep digits that sums of squares would lose.
slopes AS (
    SELECT
        means.*,
        sum(means.day_count * (means.day - means.mean_day) ^ 2) OVER figure AS day_squares,
        sum(means.day_count * (means.day - means.mean_day) * (means.value - means.mean))
            OVER figure AS products
    FROM means
    WINDOW
        figure AS (
            PARTITION BY means.trend ORDER BY means.week
            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
        )
),

lines AS (
    SELECT DISTINCT ON (slopes.trend)
        slopes.*,
        slopes.products / nullif(slopes.day_squares, 0) AS change_per_day,
        sum(
            slopes.day_count
            * (
                slopes.value - slopes.mean
                - slopes.products / nullif(slopes.day_squares, 0) * (slopes.day - slopes.mean_day)
            ) ^ 2
        ) OVER (
            PARTITION BY slopes.trend ORDER BY slopes.week
            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
        ) AS residual_squares
    FROM slopes
    ORDER BY slopes.trend
),

-- A quantile takes ten milliseconds, so it is calculated once for all figures of as many weeks. Of one or two
-- weeks there is no variance, and t is of no importance.
quantiles AS MATERIALIZED (
    SELECT
        counts.week_count,
        mart.student_t_quantile(0.975, greatest(counts.week_count - 2, 1)) AS t
    FROM (SELECT DISTINCT lines.week_count FROM lines) AS counts
),

-- The variance of a day about the line, times the square of Student's t.
squares AS (
    SELECT
        lines.*,
        lines.residual_squares
        / nullif(lines.week_count - 2, 0)
        * quantiles.t ^ 2 AS square,
        dates.expected_on,
        dates.expected_on - date '2000-01-01' - lines.mean_day AS distance
    FROM lines
    INNER JOIN quantiles ON lines.week_count = quantiles.week_count
    CROSS JOIN
        LATERAL (
            -- A date beyond a century is no forecast, and could be later than any date there is.
            VALUES (lines.last_on + least(figure_trends.days_ahead, 36525))
        ) AS dates (expected_on)
),

trends AS (
    SELECT
        squares.*,
        sqrt(squares.square / nullif(squares.day_squares, 0)) AS change_margin,
        squares.mean + squares.change_per_day * squares.distance AS expected,
        sqrt(
            squares.square
            * (
                1 / 7::double precision
                + 1 / squares.all_day_count
                + squares.distance ^ 2 / nullif(squares.day_squares, 0)
            )
        ) AS expected_margin
    FROM squares
)

SELECT
    trends.archive,
    trends.kind,
    trends.source,
    trends.system,
    trends.section,
    trends.user_id,
    trends.gateway,
    trends.client,
    trends.application,
    trends.storage_class,
    trends.storage_class_number,
    trends.drive_type,
    trends.library,
    trends.to_library,
    trends.vsn,
    trends.figure,
    trends.is_total,

    trends.all_day_count::bigint AS day_count,
    trends.week_count,
    trends.mean,
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

    trends.first_on AS first_reported_on,
    trends.last_on AS last_reported_on,
    trends.expected_on
FROM trends
ORDER BY trends.trend

$function$;
