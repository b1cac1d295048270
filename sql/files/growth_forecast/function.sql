CREATE FUNCTION mart.growth_forecast(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    is_fresh boolean DEFAULT FALSE,
    months integer DEFAULT 12,
    grouped_by text DEFAULT 'all'
) RETURNS TABLE (
    archive text,
    kind text,
    grouped_by text,
    class_of_service text,
    day_count bigint,
    week_count bigint,
    verdict text,
    net_bytes_per_day double precision,
    net_bytes_per_day_low double precision,
    net_bytes_per_day_high double precision,
    grown_bytes double precision,
    grown_bytes_low double precision,
    grown_bytes_high double precision,
    held_bytes double precision,
    held_bytes_low double precision,
    held_bytes_high double precision,
    observed_on date,
    starts_on date,
    ends_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- Days of one week resemble each other, so weeks are the spans whose variation is chance.
WITH totals AS (
    SELECT
        weeks.archive,
        weeks.kind,
        weeks.grouped_by,
        weeks.class_of_service,
        sum(weeks.day_count)::bigint AS day_count,
        count(*) AS week_count,
        sum(weeks.net_bytes)::double precision / sum(weeks.day_count)::double precision AS per_day,
        mart.day_variance(
            array_agg(weeks.net_bytes::double precision), array_agg(weeks.day_count::double precision)
        ) AS day_variance,
        (array_agg(weeks.held_bytes ORDER BY weeks.ends_on DESC))[1]::double precision AS held_bytes,
        max(weeks.ends_on) AS observed_on
    FROM
        mart.growth(
            archive => growth_forecast.archive,
            since => growth_forecast.since,
            until => growth_forecast.until,
            class_of_service => growth_forecast.class_of_service,
            is_fresh => growth_forecast.is_fresh,
            period => 'week',
            grouped_by => growth_forecast.grouped_by
        ) AS weeks
    GROUP BY weeks.archive, weeks.kind, weeks.grouped_by, weeks.class_of_service
),

squares AS (
    SELECT
        totals.*,
        totals.day_variance * mart.student_t_quantile(0.975, totals.week_count - 1) ^ 2 AS square
    FROM totals
),

ahead AS (
    SELECT
        squares.*,
        dates.starts_on,
        dates.ends_on,
        dates.ends_on - squares.observed_on AS days_ahead,
        dates.ends_on - dates.starts_on + 1 AS month_days
    FROM squares
    -- Dates end, and nobody reads more.
    CROSS JOIN LATERAL generate_series(1, least(growth_forecast.months, 1200)) AS numbers (number)
    CROSS JOIN
        LATERAL (
            VALUES
            (
                (
                    date_trunc('month', squares.observed_on::timestamp)
                    + make_interval(months => numbers.number)
                )::date,
                (
                    date_trunc('month', squares.observed_on::timestamp)
                    + make_interval(months => numbers.number + 1)
                )::date
                - 1
            )
        ) AS dates (starts_on, ends_on)
),

-- In h days, the growth is per_day * h, give or take sqrt(square * (h + h^2 / day_count)): the days to come
-- vary, and the rate is only known from day_count days. mart.room calculates the same way.
margins AS (
    SELECT
        ahead.*,
        ahead.per_day * ahead.days_ahead AS grown_bytes,
        sqrt(ahead.square * (1 / ahead.month_days::double precision + 1 / ahead.day_count::double precision))
            AS per_day_margin,
        sqrt(
            ahead.square * (ahead.days_ahead + ahead.days_ahead ^ 2 / ahead.day_count::double precision)
        ) AS margin
    FROM ahead
)

SELECT
    margins.archive,
    margins.kind,
    margins.grouped_by,
    margins.class_of_service,

    margins.day_count,
    margins.week_count,
    CASE WHEN margins.per_day > 0 THEN 'growing' ELSE 'not growing' END AS verdict,
    margins.per_day AS net_bytes_per_day,
    margins.per_day - margins.per_day_margin AS net_bytes_per_day_low,
    margins.per_day + margins.per_day_margin AS net_bytes_per_day_high,
    margins.grown_bytes,
    margins.grown_bytes - margins.margin AS grown_bytes_low,
    margins.grown_bytes + margins.margin AS grown_bytes_high,
    margins.held_bytes + margins.grown_bytes AS held_bytes,
    margins.held_bytes + margins.grown_bytes - margins.margin AS held_bytes_low,
    margins.held_bytes + margins.grown_bytes + margins.margin AS held_bytes_high,

    margins.observed_on,
    margins.starts_on,
    margins.ends_on
FROM margins

$function$;
