CREATE FUNCTION mart.room(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    source text,
    room text,
    library text,
    tape_type text,
    level double precision,
    day_count bigint,
    week_count bigint,
    used_per_day double precision,
    used_per_day_low double precision,
    used_per_day_high double precision,
    added double precision,
    intake_count bigint,
    eject_count bigint,
    days_left double precision,
    days_left_low double precision,
    days_left_high double precision,
    verdict text,
    observed_on date,
    runs_out_on date,
    runs_out_on_low date,
    runs_out_on_high date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH changes AS (
    SELECT changes.*
    FROM
        mart.room_changes(archive => room.archive, since => room.since, until => room.until) AS changes
),

-- Days of one week resemble each other, so weeks are the blocks whose variation is chance.
weeks AS (
    SELECT
        changes.archive,
        changes.kind,
        changes.source,
        changes.room,
        changes.library,
        changes.tape_type,
        sum(changes.day_count) AS day_count,
        sum(changes.used) AS used,
        sum(changes.added) AS added,
        sum(changes.intake_count) AS intake_count,
        sum(changes.eject_count) AS eject_count,
        (array_agg(changes.level ORDER BY changes.observed_on DESC))[1] AS level,
        max(changes.observed_on) AS observed_on
    FROM changes
    GROUP BY
        changes.archive,
        changes.kind,
        changes.source,
        changes.room,
        changes.library,
        changes.tape_type,
        date_trunc('week', changes.observed_on::timestamp)
),

totals AS (
    SELECT
        weeks.archive,
        weeks.kind,
        weeks.source,
        weeks.room,
        weeks.library,
        weeks.tape_type,
        sum(weeks.used) / sum(weeks.day_count)::double precision AS used_per_day,
        mart.day_variance(array_agg(weeks.used), array_agg(weeks.day_count::double precision))
            AS day_variance,
        (array_agg(weeks.level ORDER BY weeks.observed_on DESC))[1] AS level,
        max(weeks.observed_on) AS observed_on,
        sum(weeks.day_count)::bigint AS day_count,
        count(weeks.day_count) AS week_count,
        sum(weeks.added) AS added,
        sum(weeks.intake_count)::bigint AS intake_count,
        sum(weeks.eject_count)::bigint AS eject_count
    FROM weeks
    GROUP BY
        weeks.archive,
        weeks.kind,
        weeks.source,
        weeks.room,
        weeks.library,
        weeks.tape_type
),

squares AS (
    SELECT
        totals.*,
        totals.day_variance * mart.student_t_quantile(0.975, totals.week_count - 1) ^ 2 AS square
    FROM totals
),

-- In h days, used_per_day * h is used, give or take sqrt(square * (h + h^2 / day_count)): the days to come
-- vary, and the rate is only known from day_count days. The room ends when these bounds reach the level, at
-- the roots of slope * h^2 - 2 * middle * h + level^2 = 0, where middle is level * used_per_day + square / 2.
-- They are level^2 / larger and larger / slope. Without a positive slope, the room may last for ever.
bounds AS (
    SELECT
        squares.*,
        sqrt(squares.square / squares.day_count) AS margin,
        squares.used_per_day ^ 2 - squares.square / squares.day_count AS slope,
        CASE
            WHEN squares.used_per_day > 0
                THEN
                    squares.level * squares.used_per_day
                    + squares.square / 2
                    + sqrt(
                        squares.square
                        * (
                            squares.level * squares.used_per_day
                            + squares.square / 4
                            + squares.level ^ 2 / squares.day_count
                        )
                    )
        END AS larger
    FROM squares
),

ends AS (
    SELECT
        bounds.*,
        CASE WHEN bounds.used_per_day > 0 THEN bounds.level / bounds.used_per_day END AS days_left,
        bounds.level ^ 2 / nullif(bounds.larger, 0) AS days_left_low,
        CASE WHEN bounds.slope > 0 THEN bounds.larger / bounds.slope END AS days_left_high
    FROM bounds
)

SELECT
    ends.archive,
    ends.kind,
    ends.source,
    ends.room,
    ends.library,
    ends.tape_type,

    ends.level,
    ends.day_count,
    ends.week_count,
    ends.used_per_day,
    ends.used_per_day - ends.margin AS used_per_day_low,
    ends.used_per_day + ends.margin AS used_per_day_high,
    ends.added,
    ends.intake_count,
    ends.eject_count,
    ends.days_left,
    ends.days_left_low,
    ends.days_left_high,
    CASE
        WHEN ends.level <= 0 THEN 'none left'
        WHEN ends.used_per_day IS NULL THEN 'not known'
        WHEN ends.used_per_day <= 0 THEN 'not running out'
        ELSE 'running out'
    END AS verdict,

    ends.observed_on,
    -- A date beyond a century is no forecast, and could be later than any date there is.
    ends.observed_on
    + CASE WHEN ends.days_left < 36525 THEN floor(ends.days_left)::integer END AS runs_out_on,
    ends.observed_on
    + CASE WHEN ends.days_left_low < 36525 THEN floor(ends.days_left_low)::integer END AS runs_out_on_low,
    ends.observed_on
    + CASE WHEN ends.days_left_high < 36525 THEN floor(ends.days_left_high)::integer END AS runs_out_on_high
FROM ends

$function$;
