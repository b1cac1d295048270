CREATE FUNCTION mart.compared_means(
    a text DEFAULT NULL,
    b text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    block_s double precision DEFAULT NULL,
    replicate_count integer DEFAULT NULL,
    b_since timestamptz DEFAULT NULL,
    b_until timestamptz DEFAULT NULL
) RETURNS TABLE (
    side text,
    direction text,
    quantity text,
    statistic text,
    unit text,
    replicate integer,
    request_count bigint,
    block_count bigint,
    value double precision,
    span_began_at timestamptz,
    span_ended_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH requests AS MATERIALIZED (
    SELECT requests.*
    FROM
        mart.compared_requests(
            a => compared_means.a,
            b => compared_means.b,
            since => compared_means.since,
            until => compared_means.until,
            interface => compared_means.interface,
            direction => compared_means.direction,
            client => compared_means.client,
            class_of_service => compared_means.class_of_service,
            block_s => compared_means.block_s,
            b_since => compared_means.b_since,
            b_until => compared_means.b_until
        ) AS requests
),

waits AS (
    SELECT * FROM mart.request_waits
),

blocks AS MATERIALIZED (
    SELECT blocks.*
    FROM
        mart.compared_blocks(
            a => compared_means.a,
            b => compared_means.b,
            since => compared_means.since,
            until => compared_means.until,
            interface => compared_means.interface,
            direction => compared_means.direction,
            client => compared_means.client,
            class_of_service => compared_means.class_of_service,
            block_s => compared_means.block_s,
            b_since => compared_means.b_since,
            b_until => compared_means.b_until
        ) AS blocks
),

-- Times are in whole microseconds, because integers give the same sum in any order.
sums AS (
    SELECT
        requests.side,
        coalesce(requests.direction, 'all') AS direction,
        requests.block_at,
        count(*) AS all_count,
        sum(requests.size_bytes) AS size_bytes,
        count(requests.duration_s) AS duration_count,
        sum(round(requests.duration_s * 1e6)::bigint) AS duration_us,
        count(requests.open_s) AS open_count,
        sum(round(requests.open_s * 1e6)::bigint) AS open_us,
        count(requests.stage_s) AS stage_count,
        sum(round(requests.stage_s * 1e6)::bigint) AS stage_us,
        count(requests.total_s) AS total_count,
        sum(round(requests.total_s * 1e6)::bigint) AS total_us,
        count(requests.is_cached) AS evident_count,
        count(*) FILTER (WHERE requests.is_cached) AS cached_count,
        count(requests.is_joined) AS joining_known_count,
        count(*) FILTER (WHERE requests.is_joined) AS joined_count,
        count(waits.transfer_id) AS waits_count,
        count(*) FILTER (WHERE waits.user_wait_s > 0) AS user_wait_count,
        sum(round(waits.user_wait_s * 1e6)::bigint) AS user_wait_us,
        count(*) FILTER (WHERE waits.port_wait_s > 0) AS port_wait_count,
        sum(round(waits.port_wait_s * 1e6)::bigint) AS port_wait_us,
        count(*) FILTER (WHERE waits.file_wait_s > 0) AS file_wait_count,
        sum(round(waits.file_wait_s * 1e6)::bigint) AS file_wait_us,
        count(*) FILTER (WHERE waits.drive_wait_s > 0) AS drive_wait_count,
        sum(round(waits.drive_wait_s * 1e6)::bigint) AS drive_wait_us,
        count(*) FILTER (WHERE waits.load_wait_s > 0) AS load_wait_count,
        sum(round(waits.load_wait_s * 1e6)::bigint) AS load_wait_us,
        count(*) FILTER (WHERE waits.space_wait_s > 0) AS space_wait_count,
        sum(round(waits.space_wait_s * 1e6)::bigint) AS space_wait_us,
        count(*) FILTER (WHERE waits.latency_s > 0) AS latency_count,
        sum(round(waits.latency_s * 1e6)::bigint) AS latency_us,
        count(*) FILTER (WHERE waits.staging_s > 0) AS staging_count,
        sum(round(waits.staging_s * 1e6)::bigint) AS staging_us,
        count(*) FILTER (WHERE waits.transfer_s > 0) AS transfer_count,
        sum(round(waits.transfer_s * 1e6)::bigint) AS transfer_us,
        count(*) FILTER (WHERE waits.contention_s > 0) AS contention_count,
        sum(round(waits.contention_s * 1e6)::bigint) AS contention_us
    FROM requests
    LEFT JOIN waits ON requests.archive = waits.archive AND requests.transfer_id = waits.transfer_id
    GROUP BY requests.side, requests.block_at, GROUPING SETS ((requests.direction), ())
),

parts AS (
    SELECT
        blocks.side,
        blocks.direction,
        blocks.block_at,
        part.quantity,
        part.statistic,
        part.unit,
        part.factor,
        part.numerator::bigint AS numerator,
        part.denominator::bigint AS denominator,
        coalesce(part.request_count, 0) AS request_count,
        blocks.span_began_at,
        blocks.span_ended_at
    FROM blocks
    LEFT JOIN sums
        ON
            blocks.side = sums.side
            AND blocks.block_at = sums.block_at
            AND blocks.direction = sums.direction
    CROSS JOIN
        LATERAL (
            VALUES
            (
                'requests',
                'per day',
                '1/day',
                86400e6,
                coalesce(sums.all_count, 0),
                blocks.block_us,
                sums.all_count
            ),
            (
                'bytes',
                'per day',
                'bytes/day',
                86400e6,
                coalesce(sums.size_bytes, 0),
                blocks.block_us,
                sums.all_count
            ),
            ('under way', 'mean', '1', 1, blocks.busy_us, blocks.block_us, sums.all_count),
            ('none under way', 'share', '1', 1, blocks.idle_us, blocks.block_us, sums.all_count),
            ('transfer time', 'mean', 's', 1e-6, sums.duration_us, sums.duration_count, sums.duration_count),
            ('open time', 'mean', 's', 1e-6, sums.open_us, sums.open_count, sums.open_count),
            ('stage time', 'mean', 's', 1e-6, sums.stage_us, sums.stage_count, sums.stage_count),
            ('total time', 'mean', 's', 1e-6, sums.total_us, sums.total_count, sums.total_count),
            ('found on disk', 'share', '1', 1, sums.cached_count, sums.evident_count, sums.evident_count),
            (
                'joined a stage',
                'share',
                '1',
                1,
                sums.joined_count,
                sums.joining_known_count,
                sums.joining_known_count
            ),
            ('wait for user limit', 'mean', 's', 1e-6, sums.user_wait_us, sums.waits_count, sums.waits_count),
            ('wait for port', 'mean', 's', 1e-6, sums.port_wait_us, sums.waits_count, sums.waits_count),
            ('wait for file', 'mean', 's', 1e-6, sums.file_wait_us, sums.waits_count, sums.waits_count),
            ('wait for drive', 'mean', 's', 1e-6, sums.drive_wait_us, sums.waits_count, sums.waits_count),
            ('load of tape', 'mean', 's', 1e-6, sums.load_wait_us, sums.waits_count, sums.waits_count),
            ('wait for room', 'mean', 's', 1e-6, sums.space_wait_us, sums.waits_count, sums.waits_count),
            ('latency', 'mean', 's', 1e-6, sums.latency_us, sums.waits_count, sums.waits_count),
            ('staging alone', 'mean', 's', 1e-6, sums.staging_us, sums.waits_count, sums.waits_count),
            ('transfer alone', 'mean', 's', 1e-6, sums.transfer_us, sums.waits_count, sums.waits_count),
            ('contention', 'mean', 's', 1e-6, sums.contention_us, sums.waits_count, sums.waits_count),
            (
                'wait for user limit',
                'share',
                '1',
                1,
                sums.user_wait_count,
                sums.waits_count,
                sums.waits_count
            ),
            ('wait for port', 'share', '1', 1, sums.port_wait_count, sums.waits_count, sums.waits_count),
            ('wait for file', 'share', '1', 1, sums.file_wait_count, sums.waits_count, sums.waits_count),
            ('wait for drive', 'share', '1', 1, sums.drive_wait_count, sums.waits_count, sums.waits_count),
            ('load of tape', 'share', '1', 1, sums.load_wait_count, sums.waits_count, sums.waits_count),
            ('wait for room', 'share', '1', 1, sums.space_wait_count, sums.waits_count, sums.waits_count),
            ('latency', 'share', '1', 1, sums.latency_count, sums.waits_count, sums.waits_count),
            ('staging alone', 'share', '1', 1, sums.staging_count, sums.waits_count, sums.waits_count),
            ('transfer alone', 'share', '1', 1, sums.transfer_count, sums.waits_count, sums.waits_count),
            ('contention', 'share', '1', 1, sums.contention_count, sums.waits_count, sums.waits_count)
        ) AS part (quantity, statistic, unit, factor, numerator, denominator, request_count)
    -- Puts neither find a file on disk nor wait for a stage, and the gets' figures are not repeated for both
    -- directions together.
    WHERE
        part.denominator > 0
        AND (
            blocks.direction = 'get'
            OR part.quantity NOT IN ('stage time', 'found on disk', 'joined a stage')
        )
        -- Of both directions together, it would mostly show how many of them are gets, which wait for tapes.
        AND (blocks.direction <> 'all' OR part.quantity <> 'open time')
),

weights AS (
    SELECT
        blocks.block_at,
        replicates.replicate,
        CASE
            WHEN replicates.replicate = 0 THEN 1
            ELSE mart.poisson_weight(replicates.replicate, extract(EPOCH FROM blocks.block_at)::bigint)
        END AS weight
    FROM blocks
    CROSS JOIN generate_series(0, coalesce(compared_means.replicate_count, 200)) AS replicates (replicate)
    GROUP BY blocks.block_at, replicates.replicate
)

SELECT
    parts.side,
    parts.direction,
    parts.quantity,
    parts.statistic,
    parts.unit,
    weights.replicate,

    sum(weights.weight * parts.request_count)::bigint AS request_count,
    count(*) AS block_count,
    parts.factor
    * sum(weights.weight * parts.numerator)::double precision
    / nullif(sum(weights.weight * parts.denominator), 0)::double precision AS value,

    parts.span_began_at,
    parts.span_ended_at
FROM parts
INNER JOIN weights ON parts.block_at = weights.block_at
GROUP BY
    parts.side,
    parts.direction,
    parts.quantity,
    parts.statistic,
    parts.unit,
    parts.factor,
    weights.replicate,
    parts.span_began_at,
    parts.span_ended_at

$function$;
