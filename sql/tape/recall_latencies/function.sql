CREATE FUNCTION mart.recall_latencies(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    grouped_by text[] DEFAULT '{}',
    target_s double precision DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    counted_per text,
    interface text,
    class_of_service text,
    evidence text,
    size_from_bytes numeric,
    size_to_bytes numeric,
    recall_count bigint,
    timed_count bigint,
    unfinished_count bigint,
    failed_count bigint,
    cancelled_count bigint,
    unknown_count bigint,
    negative_count bigint,
    below_clock_count bigint,
    first_byte_count bigint,
    inferred_count bigint,
    clock_step_s double precision,
    inferred_from_s double precision,
    p50_s double precision,
    p50_low_s double precision,
    p50_high_s double precision,
    p90_s double precision,
    p90_low_s double precision,
    p90_high_s double precision,
    p95_s double precision,
    p95_low_s double precision,
    p95_high_s double precision,
    p99_s double precision,
    p99_low_s double precision,
    p99_high_s double precision,
    over_target_count bigint,
    over_target_ratio double precision,
    queue_count bigint,
    mean_queue_s double precision,
    mount_count bigint,
    mean_mount_s double precision,
    position_count bigint,
    mean_position_s double precision,
    transfer_count bigint,
    mean_transfer_s double precision,
    starts_on date,
    starts_at timestamptz,
    first_on date,
    last_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- Only the columns of the groupings that are asked for have values.
WITH asked_for AS (
    SELECT
        recalls.archive,
        recalls.kind,
        recalls.counted_per,
        CASE WHEN 'interface' = any(recall_latencies.grouped_by) THEN recalls.interface END AS interface,
        CASE WHEN 'class_of_service' = any(recall_latencies.grouped_by) THEN recalls.class_of_service END
            AS class_of_service,
        CASE WHEN 'evidence' = any(recall_latencies.grouped_by) THEN recalls.evidence END AS evidence,
        CASE
            WHEN 'size' = any(recall_latencies.grouped_by)
                THEN CASE WHEN recalls.size_bytes = 0 THEN 0 ELSE length(recalls.size_bytes::text) END
        END AS digit_count,
        recalls.recall_s,
        recalls.clock_step_s,
        -- As numbers, sums do not depend on the order of rows.
        recalls.queue_s::numeric AS queue_s,
        recalls.mount_s::numeric AS mount_s,
        recalls.position_s::numeric AS position_s,
        recalls.transfer_s::numeric AS transfer_s,
        recalls.is_failed,
        recalls.is_cancelled,
        recalls.is_unfinished,
        recalls.is_below_clock,
        recalls.is_negative,
        recalls.is_first_byte,
        recalls.evidence = 'open time' AS is_inferred,
        (recalls.ended_at AT TIME ZONE recalls.timezone)::date AS day,
        CASE
            WHEN 'hour' = any(recall_latencies.grouped_by)
                THEN date_trunc('hour', recalls.ended_at, recalls.timezone)
        END AS starts_at
    FROM
        mart.recalls(
            archive => recall_latencies.archive,
            since => recall_latencies.since,
            until => recall_latencies.until,
            interface => recall_latencies.interface,
            direction => recall_latencies.direction,
            client => recall_latencies.client,
            class_of_service => recall_latencies.class_of_service
        ) AS recalls
    WHERE
        recall_latencies.grouped_by
        <@ ARRAY['size', 'class_of_service', 'interface', 'evidence', 'hour', 'day', 'month']
),

dated AS (
    SELECT
        asked_for.*,
        CASE
            WHEN recall_latencies.grouped_by && ARRAY['hour', 'day'] THEN asked_for.day
            WHEN 'month' = any(recall_latencies.grouped_by)
                THEN date_trunc('month', asked_for.day::timestamp)::date
        END AS starts_on
    FROM asked_for
),

groups AS (
    SELECT
        dated.archive,
        dated.kind,
        dated.counted_per,
        dated.interface,
        dated.class_of_service,
        dated.evidence,
        dated.digit_count,
        count(*) AS recall_count,
        count(dated.recall_s) AS timed_count,
        count(*) FILTER (WHERE dated.is_unfinished) AS unfinished_count,
        count(*) FILTER (WHERE dated.is_failed) AS failed_count,
        count(dated.is_failed) AS outcome_count,
        count(*) FILTER (WHERE dated.is_cancelled) AS cancelled_count,
        count(dated.is_cancelled) AS cancel_known_count,
        count(*) FILTER (WHERE dated.is_negative) AS negative_count,
        count(*) FILTER (WHERE dated.is_below_clock) AS below_clock_count,
        count(dated.recall_s) FILTER (WHERE dated.is_first_byte) AS first_byte_count,
        count(*) FILTER (WHERE dated.is_inferred) AS inferred_count,
        max(dated.clock_step_s) FILTER (WHERE dated.is_below_clock) AS clock_step_s,
        array_agg(dated.recall_s ORDER BY dated.recall_s) FILTER (WHERE dated.recall_s IS NOT NULL)
            AS latencies_s,
        count(*) FILTER (WHERE dated.recall_s > recall_latencies.target_s) AS over_target_count,
        count(dated.queue_s) FILTER (WHERE dated.recall_s IS NOT NULL) AS queue_count,
        avg(dated.queue_s) FILTER (WHERE dated.recall_s IS NOT NULL)::double precision AS mean_queue_s,
        count(dated.mount_s) FILTER (WHERE dated.recall_s IS NOT NULL) AS mount_count,
        avg(dated.mount_s) FILTER (WHERE dated.recall_s IS NOT NULL)::double precision AS mean_mount_s,
        count(dated.position_s) FILTER (WHERE dated.recall_s IS NOT NULL) AS position_count,
        avg(dated.position_s) FILTER (WHERE dated.recall_s IS NOT NULL)::double precision AS mean_position_s,
        count(dated.transfer_s) FILTER (WHERE dated.recall_s IS NOT NULL) AS transfer_count,
        avg(dated.transfer_s) FILTER (WHERE dated.recall_s IS NOT NULL)::double precision AS mean_transfer_s,
        dated.starts_on,
        dated.starts_at,
        min(dated.day) AS first_on,
        max(dated.day) AS last_on
    FROM dated
    GROUP BY
        dated.starts_at,
        dated.starts_on,
        dated.digit_count,
        dated.class_of_service,
        dated.interface,
        dated.evidence,
        dated.counted_per,
        dated.archive,
        dated.kind
),

-- An unfinished recall is only known to take longer than it has taken so far. It counts as longer than all
-- others.
censored AS (
    SELECT
        groups.*,
        groups.timed_count + groups.unfinished_count AS value_count,
        -- Below these times, recalls are not recognised, or their order is not known.
        coalesce(
            recall_latencies.target_s >= greatest(
                CASE WHEN groups.inferred_count > 0 THEN 8 END, groups.clock_step_s, 0
            ),
            FALSE
        ) AS is_target_known
    FROM groups
)

SELECT
    censored.archive,
    censored.kind,
    censored.counted_per,
    censored.interface,
    censored.class_of_service,
    censored.evidence,

    -- A power of numbers has decimals.
    CASE WHEN censored.digit_count = 0 THEN 0 ELSE round(10::numeric ^ (censored.digit_count - 1)) END
        AS size_from_bytes,
    round(10::numeric ^ censored.digit_count) AS size_to_bytes,
    censored.recall_count,
    censored.timed_count,
    censored.unfinished_count,
    CASE WHEN censored.outcome_count > 0 THEN censored.failed_count END AS failed_count,
    CASE WHEN censored.cancel_known_count > 0 THEN censored.cancelled_count END AS cancelled_count,
    censored.recall_count - censored.timed_count - censored.unfinished_count - censored.failed_count
    - censored.cancelled_count - censored.negative_count AS unknown_count,
    censored.negative_count,
    censored.below_clock_count,
    censored.first_byte_count,
    censored.inferred_count,
    censored.clock_step_s,
    CASE WHEN censored.inferred_count > 0 THEN 8 END::double precision AS inferred_from_s,
    censored.latencies_s[p50.place] AS p50_s,
    censored.latencies_s[p50.low_place] AS p50_low_s,
    censored.latencies_s[p50.high_place] AS p50_high_s,
    censored.latencies_s[p90.place] AS p90_s,
    censored.latencies_s[p90.low_place] AS p90_low_s,
    censored.latencies_s[p90.high_place] AS p90_high_s,
    censored.latencies_s[p95.place] AS p95_s,
    censored.latencies_s[p95.low_place] AS p95_low_s,
    censored.latencies_s[p95.high_place] AS p95_high_s,
    censored.latencies_s[p99.place] AS p99_s,
    censored.latencies_s[p99.low_place] AS p99_low_s,
    censored.latencies_s[p99.high_place] AS p99_high_s,
    CASE WHEN censored.is_target_known THEN censored.over_target_count + censored.unfinished_count END
        AS over_target_count,
    CASE
        WHEN censored.is_target_known
            THEN
                (censored.over_target_count + censored.unfinished_count)
                / nullif(censored.value_count, 0)::double precision
    END AS over_target_ratio,
    censored.queue_count,
    censored.mean_queue_s,
    censored.mount_count,
    censored.mean_mount_s,
    censored.position_count,
    censored.mean_position_s,
    censored.transfer_count,
    censored.mean_transfer_s,

    censored.starts_on,
    censored.starts_at,
    censored.first_on,
    censored.last_on
FROM censored
CROSS JOIN LATERAL mart.quantile_places(censored.value_count, 50) AS p50
CROSS JOIN LATERAL mart.quantile_places(censored.value_count, 90) AS p90
CROSS JOIN LATERAL mart.quantile_places(censored.value_count, 95) AS p95
CROSS JOIN LATERAL mart.quantile_places(censored.value_count, 99) AS p99

$function$;
