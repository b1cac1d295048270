CREATE FUNCTION mart.not_on_tape(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    required_copy_count integer DEFAULT 1,
    moments timestamptz[] DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    copy_count integer,
    file_count bigint,
    size_bytes numeric,
    unknown_size_count bigint,
    unknown_count bigint,
    unknown_bytes numeric,
    longest_wait_s double precision,
    happened_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH puts AS (
    SELECT *
    FROM
        mart.tape_puts(
            archive => not_on_tape.archive,
            since => not_on_tape.since,
            until => not_on_tape.until,
            interface => not_on_tape.interface,
            direction => not_on_tape.direction,
            client => not_on_tape.client,
            class_of_service => not_on_tape.class_of_service,
            required_copy_count => not_on_tape.required_copy_count
        )
),

-- Before the logs of tape begin and after they end, nothing is known.
moments AS (
    SELECT DISTINCT
        puts.archive,
        puts.kind,
        copies.copy_count,
        found.happened_at
    FROM puts
    CROSS JOIN LATERAL generate_series(1, puts.required_count) AS copies (copy_count)
    CROSS JOIN
        LATERAL unnest(coalesce(not_on_tape.moments, ARRAY[puts.tape_log_ends_at])) AS found (happened_at)
    WHERE found.happened_at BETWEEN puts.tape_log_begins_at AND puts.tape_log_ends_at
)

SELECT
    moments.archive,
    moments.kind,

    moments.copy_count,
    count(*) FILTER (WHERE puts.state <> 'unknown') AS file_count,
    coalesce(sum(puts.size_bytes) FILTER (WHERE puts.state <> 'unknown'), 0) AS size_bytes,
    count(*) FILTER (WHERE puts.state <> 'unknown' AND puts.size_bytes IS NULL) AS unknown_size_count,
    count(*) FILTER (WHERE puts.state = 'unknown') AS unknown_count,
    coalesce(sum(puts.size_bytes) FILTER (WHERE puts.state = 'unknown'), 0) AS unknown_bytes,
    extract(
        EPOCH FROM moments.happened_at - min(puts.put_at) FILTER (WHERE puts.state <> 'unknown')
    )::double precision AS longest_wait_s,

    moments.happened_at
FROM moments
LEFT JOIN puts
    ON
        moments.archive = puts.archive
        AND moments.copy_count <= puts.required_count
        AND moments.happened_at >= puts.put_at
        AND moments.happened_at < coalesce(puts.copies_at[moments.copy_count], timestamptz 'infinity')
        AND moments.happened_at < coalesce(puts.ended_at, timestamptz 'infinity')
GROUP BY moments.archive, moments.kind, moments.copy_count, moments.happened_at

$function$;
