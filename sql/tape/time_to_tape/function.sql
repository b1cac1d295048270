CREATE FUNCTION mart.time_to_tape(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    required_copy_count integer DEFAULT 1,
    grouped_by text[] DEFAULT '{}'
) RETURNS TABLE (
    archive text,
    kind text,
    interface text,
    class_of_service text,
    put_count bigint,
    on_tape_count bigint,
    waiting_count bigint,
    ended_count bigint,
    unknown_count bigint,
    p50_s double precision,
    p50_low_s double precision,
    p50_high_s double precision,
    p95_s double precision,
    p95_low_s double precision,
    p95_high_s double precision,
    p99_s double precision,
    p99_low_s double precision,
    p99_high_s double precision,
    estimated_p50_s double precision,
    estimated_p95_s double precision,
    estimated_p99_s double precision,
    starts_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- Only the columns of the groupings that are asked for have values.
WITH puts AS (
    SELECT
        puts.archive,
        puts.kind,
        CASE WHEN 'interface' = any(time_to_tape.grouped_by) THEN puts.interface END AS interface,
        CASE WHEN 'class_of_service' = any(time_to_tape.grouped_by) THEN puts.class_of_service END
            AS class_of_service,
        puts.state,
        puts.to_tape_s,
        puts.watched_s,
        CASE
            WHEN 'day' = any(time_to_tape.grouped_by) THEN (puts.put_at AT TIME ZONE puts.timezone)::date
            WHEN 'month' = any(time_to_tape.grouped_by)
                THEN date_trunc('month', puts.put_at AT TIME ZONE puts.timezone)::date
        END AS starts_on
    FROM
        mart.tape_puts(
            archive => time_to_tape.archive,
            since => time_to_tape.since,
            until => time_to_tape.until,
            interface => time_to_tape.interface,
            direction => time_to_tape.direction,
            client => time_to_tape.client,
            class_of_service => time_to_tape.class_of_service,
            required_copy_count => time_to_tape.required_copy_count
        ) AS puts
    WHERE time_to_tape.grouped_by <@ ARRAY['class_of_service', 'interface', 'day', 'month']
),

groups AS (
    SELECT
        puts.archive,
        puts.kind,
        puts.interface,
        puts.class_of_service,
        count(*) AS put_count,
        count(puts.to_tape_s) AS on_tape_count,
        count(*) FILTER (WHERE puts.state = 'waiting') AS waiting_count,
        count(*) FILTER (WHERE puts.state IN ('deleted', 'overwritten')) AS ended_count,
        count(*) FILTER (WHERE puts.state = 'unknown') AS unknown_count,
        -- Nulls are last, and their places have none of the values.
        array_agg(puts.to_tape_s ORDER BY puts.to_tape_s) AS times_s,
        array_agg(puts.watched_s) AS watched_s,
        array_agg(CASE puts.state WHEN 'on tape' THEN 1 WHEN 'waiting' THEN 0 ELSE 2 END) AS ends,
        array_agg(1::numeric) AS weights,
        puts.starts_on
    FROM puts
    GROUP BY puts.archive, puts.kind, puts.interface, puts.class_of_service, puts.starts_on
)

SELECT
    groups.archive,
    groups.kind,
    groups.interface,
    groups.class_of_service,

    groups.put_count,
    groups.on_tape_count,
    groups.waiting_count,
    groups.ended_count,
    groups.unknown_count,
    groups.times_s[p50.place] AS p50_s,
    groups.times_s[p50.low_place] AS p50_low_s,
    groups.times_s[p50.high_place] AS p50_high_s,
    groups.times_s[p95.place] AS p95_s,
    groups.times_s[p95.low_place] AS p95_low_s,
    groups.times_s[p95.high_place] AS p95_high_s,
    groups.times_s[p99.place] AS p99_s,
    groups.times_s[p99.low_place] AS p99_low_s,
    groups.times_s[p99.high_place] AS p99_high_s,
    estimates.p50_s AS estimated_p50_s,
    estimates.p95_s AS estimated_p95_s,
    estimates.p99_s AS estimated_p99_s,

    groups.starts_on
FROM groups
-- A file that waits is only known to take longer than it has taken so far. It counts as longer than all
-- others.
CROSS JOIN LATERAL mart.quantile_places(groups.on_tape_count + groups.waiting_count, 50) AS p50
CROSS JOIN LATERAL mart.quantile_places(groups.on_tape_count + groups.waiting_count, 95) AS p95
CROSS JOIN LATERAL mart.quantile_places(groups.on_tape_count + groups.waiting_count, 99) AS p99
-- Rounded, because sums of ratios are not exact.
CROSS JOIN LATERAL (
    SELECT
        min(incidences.after_s) FILTER (WHERE round(incidences.incidence_ratio::numeric, 9) >= 0.5) AS p50_s,
        min(incidences.after_s) FILTER (WHERE round(incidences.incidence_ratio::numeric, 9) >= 0.95) AS p95_s,
        min(incidences.after_s) FILTER (WHERE round(incidences.incidence_ratio::numeric, 9) >= 0.99) AS p99_s
    FROM mart.incidences(groups.watched_s, groups.ends, groups.weights) AS incidences
) AS estimates

$function$;
