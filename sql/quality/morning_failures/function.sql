CREATE FUNCTION mart.morning_failures(
    archive text DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    counted_per text,
    interface text,
    direction text,
    client text,
    status_code integer,
    status_text text,
    attempt_count bigint,
    unknown_count bigint,
    failed_count bigint,
    made_good_count bigint,
    not_made_good_count bigint,
    failed_ratio double precision,
    made_good_ratio double precision,
    starts_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- Whatever is asked for, the whole day is read, because its answer is kept.
WITH attempts AS (
    SELECT
        found.*,
        -- All codes of a class share its attempts, so these are added once.
        row_number() OVER (
            PARTITION BY
                found.archive,
                found.counted_per,
                found.interface,
                found.direction,
                found.client,
                found.class_of_service
        ) AS place
    FROM
        mart.morning_attempts(archive => morning_failures.archive, until => morning_failures.until) AS found
    WHERE
        (morning_failures.interface IS NULL OR found.interface = morning_failures.interface)
        AND (morning_failures.direction IS NULL OR found.direction = morning_failures.direction)
        AND (morning_failures.client IS NULL OR found.client = morning_failures.client)
        AND (
            morning_failures.class_of_service IS NULL
            OR found.class_of_service = morning_failures.class_of_service
        )
),

codes AS (
    SELECT
        attempts.archive,
        attempts.kind,
        attempts.counted_per,
        attempts.interface,
        attempts.direction,
        attempts.client,
        attempts.status_code,
        attempts.status_text,
        sum(attempts.attempt_count) FILTER (WHERE attempts.place = 1) AS attempt_count,
        sum(attempts.unknown_count) FILTER (WHERE attempts.place = 1) AS unknown_count,
        sum(attempts.failed_count) AS failed_count,
        sum(attempts.made_good_count) AS made_good_count,
        sum(attempts.not_made_good_count) AS not_made_good_count,
        attempts.starts_on
    FROM attempts
    GROUP BY
        attempts.archive,
        attempts.kind,
        attempts.counted_per,
        attempts.interface,
        attempts.direction,
        attempts.client,
        attempts.status_code,
        attempts.status_text,
        attempts.starts_on
),

shared AS (
    SELECT
        codes.archive,
        codes.kind,
        codes.counted_per,
        codes.interface,
        codes.direction,
        codes.client,
        codes.status_code,
        codes.status_text,
        sum(codes.attempt_count) OVER any_code AS attempt_count,
        sum(codes.unknown_count) OVER any_code AS unknown_count,
        codes.failed_count,
        codes.made_good_count,
        codes.not_made_good_count,
        codes.starts_on
    FROM codes
    WINDOW
        any_code AS (
            PARTITION BY codes.archive, codes.counted_per, codes.interface, codes.direction, codes.client
        )
)

SELECT
    shared.archive,
    shared.kind,
    shared.counted_per,
    shared.interface,
    shared.direction,
    shared.client,
    shared.status_code,
    shared.status_text,

    shared.attempt_count::bigint AS attempt_count,
    shared.unknown_count::bigint AS unknown_count,
    shared.failed_count::bigint AS failed_count,
    shared.made_good_count::bigint AS made_good_count,
    shared.not_made_good_count::bigint AS not_made_good_count,
    shared.failed_count / (shared.attempt_count - shared.unknown_count)::double precision AS failed_ratio,
    shared.made_good_count / nullif(shared.made_good_count + shared.not_made_good_count, 0)::double precision
        AS made_good_ratio,

    shared.starts_on
FROM shared
WHERE shared.failed_count > 0

$function$;
