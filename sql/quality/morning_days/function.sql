CREATE FUNCTION mart.morning_days(
    archive text DEFAULT NULL,
    until timestamptz DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    weeks_ago integer,
    starts_at timestamptz,
    ends_at timestamptz,
    data_until timestamptz,
    starts_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH logs AS (
    SELECT
        states.archive,
        states.kind,
        states.archive_timezone AS timezone,
        min(states.first_event_at) AS first_at,
        least(max(states.last_event_at), morning_days.until) AS last_at
    FROM mart.source_states AS states
    WHERE states.is_counted AND (morning_days.archive IS NULL OR states.archive = morning_days.archive)
    GROUP BY states.archive, states.kind, states.archive_timezone
),

days AS (
    SELECT
        logs.archive,
        logs.kind,
        logs.timezone,
        logs.first_at,
        logs.last_at,
        weeks.weeks_ago,
        (logs.last_at AT TIME ZONE logs.timezone)::date - 1 - 7 * weeks.weeks_ago AS starts_on
    FROM logs
    CROSS JOIN generate_series(0, 4) AS weeks (weeks_ago)
)

SELECT
    days.archive,
    days.kind,
    days.weeks_ago,
    bounds.starts_at,
    (days.starts_on + 1)::timestamp AT TIME ZONE days.timezone AS ends_at,
    days.last_at AS data_until,
    days.starts_on
FROM days
CROSS JOIN LATERAL (VALUES (days.starts_on::timestamp AT TIME ZONE days.timezone)) AS bounds (starts_at)
WHERE bounds.starts_at >= days.first_at

$function$;
