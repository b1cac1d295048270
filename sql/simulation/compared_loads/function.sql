CREATE FUNCTION mart.compared_loads(
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
            a => compared_loads.a,
            b => compared_loads.b,
            since => compared_loads.since,
            until => compared_loads.until,
            interface => compared_loads.interface,
            direction => compared_loads.direction,
            client => compared_loads.client,
            class_of_service => compared_loads.class_of_service,
            block_s => compared_loads.block_s,
            b_since => compared_loads.b_since,
            b_until => compared_loads.b_until
        ) AS requests
),

-- When the file of a request was asked for before, on any day.
uses AS MATERIALIZED (
    SELECT
        requests.side,
        requests.timezone,
        requests.direction,
        requests.size_bytes,
        requests.asked_at,
        requests.block_at,
        requests.user_id,
        requests.file_key,
        lag(requests.asked_at) OVER (
            PARTITION BY requests.side, requests.file_key ORDER BY requests.asked_at
        ) AS asked_before_at
    FROM requests
),

blocks AS MATERIALIZED (
    SELECT blocks.*
    FROM
        mart.compared_blocks(
            a => compared_loads.a,
            b => compared_loads.b,
            since => compared_loads.since,
            until => compared_loads.until,
            interface => compared_loads.interface,
            direction => compared_loads.direction,
            client => compared_loads.client,
            class_of_service => compared_loads.class_of_service,
            block_s => compared_loads.block_s,
            b_since => compared_loads.b_since,
            b_until => compared_loads.b_until
        ) AS blocks
),

hours AS (
    SELECT
        uses.side,
        uses.block_at,
        count(*)::numeric * count(*) AS square_count
    FROM uses
    GROUP BY uses.side, uses.block_at, date_trunc('hour', uses.asked_at, uses.timezone)
),

squares AS (
    SELECT
        hours.side,
        hours.block_at,
        sum(hours.square_count) AS square_sum
    FROM hours
    GROUP BY hours.side, hours.block_at
),

users AS (
    SELECT
        uses.side,
        uses.block_at,
        count(*) AS request_count
    FROM uses
    WHERE uses.user_id IS NOT NULL
    GROUP BY uses.side, uses.block_at, uses.user_id
),

busiest AS (
    SELECT
        users.side,
        users.block_at,
        count(*) AS user_count,
        max(users.request_count) AS most_count
    FROM users
    GROUP BY users.side, users.block_at
),

-- Logarithms are added in whole billionths, because integers give the same sum in any order.
sums AS (
    SELECT
        uses.side,
        uses.block_at,
        count(*) AS all_count,
        count(nullif(uses.size_bytes, 0)) AS size_count,
        sum(round(ln(nullif(uses.size_bytes, 0)::double precision) * 1e9)::bigint) AS log_bytes_sum,
        count(*) FILTER (
            WHERE extract(HOUR FROM uses.asked_at AT TIME ZONE uses.timezone) BETWEEN 8 AND 17
        ) AS working_count,
        count(uses.user_id) AS user_known_count,
        count(*) FILTER (WHERE uses.direction = 'get' AND uses.file_key IS NOT NULL) AS file_known_count,
        count(*) FILTER (
            WHERE
            uses.direction = 'get'
            AND uses.file_key IS NOT NULL
            AND uses.asked_before_at > uses.asked_at - interval '1 day'
        ) AS again_count
    FROM uses
    GROUP BY uses.side, uses.block_at
),

parts AS (
    SELECT
        blocks.side,
        blocks.block_at,
        part.quantity,
        part.statistic,
        part.unit,
        part.numerator,
        part.denominator,
        blocks.block_us,
        coalesce(part.request_count, 0) AS request_count,
        blocks.span_began_at,
        blocks.span_ended_at
    FROM blocks
    LEFT JOIN sums ON blocks.side = sums.side AND blocks.block_at = sums.block_at
    LEFT JOIN squares ON blocks.side = squares.side AND blocks.block_at = squares.block_at
    LEFT JOIN busiest ON blocks.side = busiest.side AND blocks.block_at = busiest.block_at
    CROSS JOIN
        LATERAL (
            VALUES
            (
                'requests',
                'dispersion',
                '1',
                coalesce(squares.square_sum, 0),
                coalesce(sums.all_count, 0),
                sums.all_count
            ),
            ('size', 'geometric mean', 'bytes', sums.log_bytes_sum, sums.size_count, sums.size_count),
            ('users', 'per block', '1', busiest.user_count, 1, sums.user_known_count),
            (
                'of the busiest user',
                'share',
                '1',
                busiest.most_count,
                sums.user_known_count,
                sums.user_known_count
            ),
            ('from 8 to 18 h', 'share', '1', sums.working_count, sums.all_count, sums.all_count),
            (
                'file used the day before',
                'share',
                '1',
                sums.again_count,
                sums.file_known_count,
                sums.file_known_count
            )
        ) AS part (quantity, statistic, unit, numerator, denominator, request_count)
    WHERE blocks.direction = 'all' AND (part.statistic = 'dispersion' OR part.request_count > 0)
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
    CROSS JOIN generate_series(0, coalesce(compared_loads.replicate_count, 200)) AS replicates (replicate)
    GROUP BY blocks.block_at, replicates.replicate
),

drawn AS (
    SELECT
        parts.side,
        parts.quantity,
        parts.statistic,
        parts.unit,
        weights.replicate,
        sum(weights.weight * parts.request_count) AS request_count,
        count(*) AS block_count,
        sum(weights.weight * parts.numerator)::double precision
        / nullif(sum(weights.weight * parts.denominator), 0)::double precision AS ratio,
        sum(weights.weight * parts.request_count) * 3600e6::double precision
        / nullif(sum(weights.weight * parts.block_us), 0)::double precision AS per_hour,
        parts.span_began_at,
        parts.span_ended_at
    FROM parts
    INNER JOIN weights ON parts.block_at = weights.block_at
    GROUP BY
        parts.side,
        parts.quantity,
        parts.statistic,
        parts.unit,
        weights.replicate,
        parts.span_began_at,
        parts.span_ended_at
)

-- The index of dispersion: the variance of the counts of hours, divided by their mean.
SELECT
    drawn.side,
    'all' AS direction,
    drawn.quantity,
    drawn.statistic,
    drawn.unit,
    drawn.replicate,

    drawn.request_count::bigint AS request_count,
    drawn.block_count,
    CASE drawn.statistic
        WHEN 'dispersion' THEN drawn.ratio - drawn.per_hour
        WHEN 'geometric mean' THEN exp(drawn.ratio / 1e9)
        ELSE drawn.ratio
    END AS value,

    drawn.span_began_at,
    drawn.span_ended_at
FROM drawn

$function$;
