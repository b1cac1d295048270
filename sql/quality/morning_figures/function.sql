CREATE FUNCTION mart.morning_figures(
    archive text DEFAULT NULL,
    until timestamptz DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    figure_number integer,
    figure text,
    unit text,
    value double precision,
    usual_value double precision,
    usual_low double precision,
    usual_high double precision,
    usual_day_count bigint,
    change double precision,
    change_ratio double precision,
    unknown_count bigint,
    sentence text,
    data_until timestamptz,
    starts_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH names AS (
    SELECT *
    FROM
        (
            VALUES
            (1, 'transfers', NULL, 'there is no log of transfers'),
            (2, 'bytes put', 'bytes', 'the logs give no size of a put'),
            (3, 'bytes got', 'bytes', 'the logs give no size of a get'),
            (4, 'failed transfers', NULL, 'no log of the day reports failures'),
            (5, 'hit ratio', 'ratio', 'of no get it is known whether the file was on disk'),
            (6, 'recalls', NULL, 'there is no log of stages and no open time'),
            (7, 'recall time, median', 's', 'no recall of the day has a time'),
            (8, 'recall time, 95th percentile', 's', 'no recall of the day has a time'),
            (9, 'hours in which no transfer ended', 'h', 'no log of transfers, or not their hours')
        ) AS figures (figure_number, figure, unit, why)
),

-- The last closed day itself.
days AS MATERIALIZED (
    SELECT found.*
    FROM mart.morning_days(archive => morning_figures.archive, until => morning_figures.until) AS found
    WHERE found.weeks_ago = 0
),

figures AS (
    SELECT
        found.archive,
        found.figure_number,
        max(found.value) FILTER (WHERE found.weeks_ago = 0) AS value,
        max(found.unknown_count) FILTER (WHERE found.weeks_ago = 0) AS unknown_count,
        percentile_cont(0.5) WITHIN GROUP (ORDER BY found.value) FILTER (WHERE found.weeks_ago > 0)
            AS usual_value,
        min(found.value) FILTER (WHERE found.weeks_ago > 0) AS usual_low,
        max(found.value) FILTER (WHERE found.weeks_ago > 0) AS usual_high,
        count(found.value) FILTER (WHERE found.weeks_ago > 0) AS usual_day_count,
        bool_or(found.is_inferred) AS is_inferred
    FROM mart.morning_values(archive => morning_figures.archive, until => morning_figures.until) AS found
    GROUP BY found.archive, found.figure_number
)

SELECT
    days.archive,
    days.kind,
    figures.figure_number,
    names.figure,
    names.unit,

    figures.value,
    figures.usual_value,
    figures.usual_low,
    figures.usual_high,
    figures.usual_day_count,
    figures.value - figures.usual_value AS change,
    (figures.value - figures.usual_value) / nullif(figures.usual_value, 0) AS change_ratio,
    figures.unknown_count,

    concat_ws(
        '; ',
        CASE
            WHEN figures.value IS NULL THEN 'not known: ' || names.why
            WHEN figures.usual_day_count = 0
                THEN 'no ' || weekday.name || ' of the four weeks before is known'
            WHEN figures.usual_day_count = 1
                THEN
                    'the only ' || weekday.name || ' known of the four weeks before had '
                    || mart.in_words(figures.usual_value, names.unit)
            ELSE
                concat(
                    CASE
                        WHEN figures.value > figures.usual_high THEN 'more than any of the '
                        WHEN figures.value < figures.usual_low THEN 'less than any of the '
                        ELSE 'within the range of the '
                    END,
                    figures.usual_day_count || ' ' || weekday.name || 's before (median ',
                    mart.in_words(figures.usual_value, names.unit),
                    ', from ' || mart.in_words(figures.usual_low, names.unit),
                    ' to ' || mart.in_words(figures.usual_high, names.unit),
                    ')'
                )
        END,
        CASE
            WHEN figures.value IS NOT NULL AND figures.unknown_count > 0
                THEN 'not known of ' || mart.in_words(figures.unknown_count, NULL) || ' more'
        END,
        CASE
            WHEN figures.value IS NOT NULL AND figures.is_inferred
                THEN 'inferred: gets that took 8 s or longer to open'
        END
    ) AS sentence,

    days.data_until,
    days.starts_on
FROM days
INNER JOIN figures ON days.archive = figures.archive
INNER JOIN names ON figures.figure_number = names.figure_number
CROSS JOIN LATERAL (VALUES (to_char(days.starts_on, 'FMDay'))) AS weekday (name)

$function$;
