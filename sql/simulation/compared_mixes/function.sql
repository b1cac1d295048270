CREATE FUNCTION mart.compared_mixes(
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
    direction text,
    quantity text,
    statistic text,
    unit text,
    replicate integer,
    a_count bigint,
    b_count bigint,
    a_common_count bigint,
    b_common_count bigint,
    block_count bigint,
    a_value double precision,
    b_value double precision,
    service_difference double precision
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH requests AS (
    SELECT requests.*
    FROM
        mart.compared_requests(
            a => compared_mixes.a,
            b => compared_mixes.b,
            since => compared_mixes.since,
            until => compared_mixes.until,
            interface => compared_mixes.interface,
            direction => compared_mixes.direction,
            client => compared_mixes.client,
            class_of_service => compared_mixes.class_of_service,
            block_s => compared_mixes.block_s,
            b_since => compared_mixes.b_since,
            b_until => compared_mixes.b_until
        ) AS requests
),

-- In whole microseconds, as mart.compared_means has them. Requests of one direction, class of service and bin
-- of sizes are of one kind.
sums AS MATERIALIZED (
    SELECT
        requests.side,
        of_direction.direction,
        observation.quantity,
        observation.statistic,
        observation.unit,
        observation.factor,
        requests.block_at,
        requests.direction AS kind_direction,
        requests.class_of_service,
        mart.size_bin(requests.size_bytes) AS size_bin,
        count(*) AS request_count,
        sum(observation.amount) AS amount
    FROM requests
    CROSS JOIN LATERAL (VALUES (requests.direction), ('all')) AS of_direction (direction)
    CROSS JOIN
        LATERAL (
            VALUES
            ('transfer time', 'mean', 's', 1e-6, round(requests.duration_s * 1e6)::bigint),
            ('stage time', 'mean', 's', 1e-6, round(requests.stage_s * 1e6)::bigint),
            ('total time', 'mean', 's', 1e-6, round(requests.total_s * 1e6)::bigint),
            ('found on disk', 'share', '1', 1, requests.is_cached::integer::bigint)
        ) AS observation (quantity, statistic, unit, factor, amount)
    -- The gets' figures are not repeated for both directions together.
    WHERE
        observation.amount IS NOT NULL
        AND (of_direction.direction = 'get' OR observation.quantity NOT IN ('stage time', 'found on disk'))
    GROUP BY
        requests.side,
        of_direction.direction,
        observation.quantity,
        observation.statistic,
        observation.unit,
        observation.factor,
        requests.block_at,
        requests.direction,
        requests.class_of_service,
        mart.size_bin(requests.size_bytes)
),

extents AS (
    SELECT
        sums.direction,
        sums.quantity,
        least(
            count(DISTINCT sums.block_at) FILTER (WHERE sums.side = 'a'),
            count(DISTINCT sums.block_at) FILTER (WHERE sums.side = 'b')
        ) AS block_count
    FROM sums
    GROUP BY sums.direction, sums.quantity
),

weights AS (
    SELECT
        sums.block_at,
        replicates.replicate,
        CASE
            WHEN replicates.replicate = 0 THEN 1
            ELSE mart.poisson_weight(replicates.replicate, extract(EPOCH FROM sums.block_at)::bigint)
        END AS weight
    FROM sums
    CROSS JOIN generate_series(0, coalesce(compared_mixes.replicate_count, 200)) AS replicates (replicate)
    GROUP BY sums.block_at, replicates.replicate
),

kinds AS (
    SELECT
        sums.direction,
        sums.quantity,
        sums.statistic,
        sums.unit,
        sums.factor,
        weights.replicate,
        sum(weights.weight * sums.request_count) FILTER (WHERE sums.side = 'a') AS a_count,
        sum(weights.weight * sums.request_count) FILTER (WHERE sums.side = 'b') AS b_count,
        sum(weights.weight * sums.amount) FILTER (WHERE sums.side = 'a') AS a_amount,
        sum(weights.weight * sums.amount) FILTER (WHERE sums.side = 'b') AS b_amount
    FROM sums
    INNER JOIN weights ON sums.block_at = weights.block_at
    GROUP BY
        sums.direction,
        sums.quantity,
        sums.statistic,
        sums.unit,
        sums.factor,
        weights.replicate,
        sums.kind_direction,
        sums.class_of_service,
        sums.size_bin
)

-- The service difference is what the requests of a would have taken, had each kind taken what it takes in b,
-- minus what they took. These are numerics, which give the same sum in any order.
SELECT
    kinds.direction,
    kinds.quantity,
    kinds.statistic,
    kinds.unit,
    kinds.replicate,

    coalesce(sum(kinds.a_count), 0)::bigint AS a_count,
    coalesce(sum(kinds.b_count), 0)::bigint AS b_count,
    coalesce(sum(kinds.a_count) FILTER (WHERE kinds.b_count > 0), 0)::bigint AS a_common_count,
    coalesce(sum(kinds.b_count) FILTER (WHERE kinds.a_count > 0), 0)::bigint AS b_common_count,
    extents.block_count,
    (kinds.factor * sum(kinds.a_amount) / nullif(sum(kinds.a_count), 0))::double precision AS a_value,
    (kinds.factor * sum(kinds.b_amount) / nullif(sum(kinds.b_count), 0))::double precision AS b_value,
    (
        kinds.factor
        * sum(kinds.a_count * kinds.b_amount / nullif(kinds.b_count, 0) - kinds.a_amount)
        / nullif(sum(kinds.a_count) FILTER (WHERE kinds.b_count > 0), 0)
    )::double precision AS service_difference
FROM kinds
INNER JOIN extents ON kinds.direction = extents.direction AND kinds.quantity = extents.quantity
GROUP BY
    kinds.direction,
    kinds.quantity,
    kinds.statistic,
    kinds.unit,
    kinds.factor,
    kinds.replicate,
    extents.block_count

$function$;
