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

-- Both sides are divided into the days of a, and an archive with the same requests as a simulated one is
-- compared with it over the same time. Their own time zones and runs need not be named.
WITH archives AS (
    SELECT * FROM mart.archives
),

runs AS (
    SELECT * FROM mart.simulation_runs
),

sides AS (
    SELECT
        sides.side,
        archives.archive,
        archives.timezone,
        runs.steady_at,
        archives.kind = 'simulated' AND runs.steady_at IS NULL AS is_never_steady
    FROM (VALUES ('a', compared_mixes.a), ('b', compared_mixes.b)) AS sides (side, archive)
    INNER JOIN archives ON sides.archive = archives.archive
    LEFT JOIN runs ON sides.archive = runs.archive
),

asked AS (
    SELECT
        mine.side,
        mine.archive,
        CASE WHEN mine.side = 'b' THEN nullif(others.timezone, mine.timezone) END AS timezone,
        others.steady_at AS asked_from
    FROM sides AS mine
    INNER JOIN sides AS others ON mine.side <> others.side
    WHERE NOT (mine.is_never_steady OR others.is_never_steady)
),

-- Each side apart, so that its range is known when the query is planned, and other months are left out. If
-- b has a range of its own, the other one is that of a.
own_kinds AS MATERIALIZED (
    SELECT
        asked.side,
        own.*
    FROM asked
    CROSS JOIN
        LATERAL mart.comparison_kinds(
            archive => asked.archive,
            since => compared_mixes.since,
            until => compared_mixes.until,
            interface => compared_mixes.interface,
            direction => compared_mixes.direction,
            client => compared_mixes.client,
            class_of_service => compared_mixes.class_of_service,
            block_s => compared_mixes.block_s,
            replicate_count => compared_mixes.replicate_count,
            asked_from => asked.asked_from
        ) AS own
    WHERE asked.side = 'a'
    UNION ALL
    SELECT
        asked.side,
        own.*
    FROM asked
    CROSS JOIN
        LATERAL mart.comparison_kinds(
            archive => asked.archive,
            since => coalesce(
                compared_mixes.b_since,
                CASE WHEN compared_mixes.b_until IS NULL THEN compared_mixes.since END
            ),
            until => coalesce(
                compared_mixes.b_until,
                CASE WHEN compared_mixes.b_since IS NULL THEN compared_mixes.until END
            ),
            interface => compared_mixes.interface,
            direction => compared_mixes.direction,
            client => compared_mixes.client,
            class_of_service => compared_mixes.class_of_service,
            block_s => compared_mixes.block_s,
            replicate_count => compared_mixes.replicate_count,
            timezone => asked.timezone,
            asked_from => asked.asked_from
        ) AS own
    WHERE asked.side = 'b'
),

-- Of each kind, what the requests of a took beside those of b.
pairs AS (
    SELECT
        own_kinds.direction,
        own_kinds.class_of_service,
        own_kinds.size_bin,
        own_kinds.quantity,
        own_kinds.statistic,
        own_kinds.unit,
        own_kinds.factor,
        max(own_kinds.request_counts) FILTER (WHERE own_kinds.side = 'a') AS a_counts,
        max(own_kinds.request_counts) FILTER (WHERE own_kinds.side = 'b') AS b_counts,
        max(own_kinds.amounts) FILTER (WHERE own_kinds.side = 'a') AS a_amounts,
        max(own_kinds.amounts) FILTER (WHERE own_kinds.side = 'b') AS b_amounts
    FROM own_kinds
    GROUP BY
        own_kinds.direction,
        own_kinds.class_of_service,
        own_kinds.size_bin,
        own_kinds.quantity,
        own_kinds.statistic,
        own_kinds.unit,
        own_kinds.factor
),

-- The gets' figures are not repeated for both directions together.
kinds AS (
    SELECT
        of_direction.direction,
        pairs.quantity,
        pairs.statistic,
        pairs.unit,
        pairs.factor,
        (drawn.place - 1)::integer AS replicate,
        drawn.a_count::numeric AS a_count,
        drawn.b_count::numeric AS b_count,
        drawn.a_amount::numeric AS a_amount,
        drawn.b_amount::numeric AS b_amount
    FROM pairs
    CROSS JOIN LATERAL (VALUES (pairs.direction), ('all')) AS of_direction (direction)
    CROSS JOIN
        LATERAL unnest(pairs.a_counts, pairs.b_counts, pairs.a_amounts, pairs.b_amounts)
        WITH ORDINALITY AS drawn (a_count, b_count, a_amount, b_amount, place)
    WHERE of_direction.direction = 'get' OR pairs.quantity NOT IN ('stage time', 'found on disk')
),

side_extents AS (
    SELECT
        own_kinds.side,
        of_direction.direction,
        own_kinds.quantity,
        max(of_direction.block_count) AS block_count
    FROM own_kinds
    CROSS JOIN
        LATERAL (
            VALUES (own_kinds.direction, own_kinds.direction_block_count), ('all', own_kinds.block_count)
        ) AS of_direction (direction, block_count)
    GROUP BY own_kinds.side, of_direction.direction, own_kinds.quantity
),

extents AS (
    SELECT
        side_extents.direction,
        side_extents.quantity,
        CASE WHEN count(*) = 2 THEN min(side_extents.block_count) ELSE 0 END AS block_count
    FROM side_extents
    GROUP BY side_extents.direction, side_extents.quantity
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
