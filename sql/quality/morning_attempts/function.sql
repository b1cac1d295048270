CREATE FUNCTION mart.morning_attempts(
    archive text DEFAULT NULL,
    until timestamptz DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    counted_per text,
    interface text,
    direction text,
    client text,
    class_of_service text,
    status_code integer,
    status_text text,
    attempt_count bigint,
    unknown_count bigint,
    failed_count bigint,
    made_good_count bigint,
    not_made_good_count bigint,
    starts_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH counted AS (
    SELECT
        found.*,
        days.starts_on AS day,
        sum(found.failed_count) OVER (
            PARTITION BY found.archive, found.counted_per, found.interface, found.direction, found.client
        ) AS failed_in_any_class_count
    FROM
        mart.morning_days(archive => morning_attempts.archive, until => morning_attempts.until) AS days
    CROSS JOIN
        LATERAL mart.failures(
            archive => days.archive,
            since => days.starts_at,
            until => days.ends_at,
            grouped_by => ARRAY['code', 'interface', 'direction', 'client', 'class_of_service']
        ) AS found
    WHERE days.weeks_ago = 0
)

-- Most groups have no failure, and nobody reads them.
SELECT
    counted.archive,
    counted.kind,
    counted.counted_per,
    counted.interface,
    counted.direction,
    counted.client,
    counted.class_of_service,
    counted.status_code,
    counted.status_text,
    counted.attempt_count,
    counted.unknown_count,
    counted.failed_count,
    counted.made_good_count,
    counted.not_made_good_count,
    counted.day AS starts_on
FROM counted
WHERE counted.failed_in_any_class_count > 0

$function$;
