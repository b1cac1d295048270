CREATE VIEW mart.bypassed_spans AS

WITH days AS (
    SELECT
        bypassed_days.*,
        daterange(bypassed_days.first_on, bypassed_days.last_on, '[]') AS span
    FROM mart.bypassed_days
),

classes AS (
    SELECT DISTINCT
        days.archive,
        days.class_of_service
    FROM days
),

-- What applies to all classes applies to each.
spans AS (
    SELECT
        classes.archive,
        classes.class_of_service,
        coalesce(range_agg(days.span) FILTER (WHERE days.is_whole), '{}'::datemultirange) AS whole_days,
        range_agg(days.span) AS all_days
    FROM classes
    INNER JOIN days
        ON
            classes.archive = days.archive
            AND (days.class_of_service IS NULL OR classes.class_of_service = days.class_of_service)
    GROUP BY classes.archive, classes.class_of_service
)

SELECT
    spans.archive,
    spans.class_of_service,
    spans.whole_days,
    spans.all_days - spans.whole_days AS part_days
FROM spans;
