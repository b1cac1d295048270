CREATE FUNCTION mart.compared_blocks(
    a text DEFAULT NULL,
    b text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    block_s double precision DEFAULT NULL,
    b_since timestamptz DEFAULT NULL,
    b_until timestamptz DEFAULT NULL
) RETURNS TABLE (
    side text,
    direction text,
    block_us bigint,
    busy_us bigint,
    idle_us bigint,
    block_at timestamptz,
    span_began_at timestamptz,
    span_ended_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH requests AS MATERIALIZED (
    SELECT requests.*
    FROM
        mart.compared_requests(
            a => compared_blocks.a,
            b => compared_blocks.b,
            since => compared_blocks.since,
            until => compared_blocks.until,
            interface => compared_blocks.interface,
            direction => compared_blocks.direction,
            client => compared_blocks.client,
            class_of_service => compared_blocks.class_of_service,
            b_since => compared_blocks.b_since,
            b_until => compared_blocks.b_until
        ) AS requests
),

-- A block's length, and the clock by which blocks begin. Days are those of the local clock, so that a day can
-- have 23 or 25 hours.
spans AS (
    SELECT
        requests.side,
        CASE WHEN compared_blocks.block_s > 0 THEN 'UTC' ELSE requests.timezone END AS timezone,
        CASE
            WHEN compared_blocks.block_s > 0 THEN make_interval(secs => compared_blocks.block_s)
            ELSE interval '1 day'
        END AS block_length,
        requests.span_began_at,
        requests.span_ended_at
    FROM requests
    GROUP BY requests.side, requests.timezone, requests.span_began_at, requests.span_ended_at
),

-- The first block is cut where the span begins, and the last one where it ends.
blocks AS (
    SELECT
        spans.side,
        spans.span_began_at,
        spans.span_ended_at,
        block.begins_at AT TIME ZONE spans.timezone AS block_at,
        (
            extract(
                EPOCH FROM
                least(
                    (block.begins_at + spans.block_length) AT TIME ZONE spans.timezone, spans.span_ended_at
                )
                - greatest(block.begins_at AT TIME ZONE spans.timezone, spans.span_began_at)
            ) * 1000000
        )::bigint AS block_us
    FROM spans
    CROSS JOIN
        generate_series(
            date_bin(
                spans.block_length,
                spans.span_began_at AT TIME ZONE spans.timezone,
                timestamp '2000-01-01 00:00'
            ),
            spans.span_ended_at AT TIME ZONE spans.timezone,
            spans.block_length
        ) AS block (begins_at)
),

-- How many transfers there are, and whether any was under way at a known time. If a log never records when a
-- transfer began, none is seen under way. That does not mean that none was.
counts AS (
    SELECT
        requests.side,
        requests.direction,
        bool_or(coalesce(requests.started_at <= requests.ended_at, FALSE)) AS is_known
    FROM requests
    GROUP BY requests.side, requests.direction
),

-- When transfers were under way, and until when those that began before were: of the same direction, and of
-- both. What is left of a transfer after that time is time in which no other was counted yet.
transfers AS (
    SELECT
        requests.side,
        requests.direction,
        spans.timezone,
        spans.block_length,
        greatest(requests.started_at, spans.span_began_at) AS began_at,
        requests.ended_at,
        max(requests.ended_at) OVER of_direction AS direction_until,
        max(requests.ended_at) OVER of_all AS all_until
    FROM requests
    INNER JOIN spans ON requests.side = spans.side
    WHERE
        requests.started_at <= requests.ended_at
        -- A request may be made after its transfer began, if the clocks of two logs disagree.
        AND requests.ended_at > spans.span_began_at
    WINDOW
        of_direction AS (
            PARTITION BY requests.side, requests.direction
            ORDER BY requests.started_at
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ),
        of_all AS (
            PARTITION BY requests.side
            ORDER BY requests.started_at
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        )
),

-- A transfer is divided where blocks begin.
pieces AS (
    SELECT
        transfers.side,
        transfers.direction,
        block.begins_at AT TIME ZONE transfers.timezone AS block_at,
        transfers.direction_until,
        transfers.all_until,
        greatest(transfers.began_at, block.begins_at AT TIME ZONE transfers.timezone) AS began_at,
        least(
            transfers.ended_at, (block.begins_at + transfers.block_length) AT TIME ZONE transfers.timezone
        ) AS ended_at
    FROM transfers
    CROSS JOIN
        LATERAL generate_series(
            date_bin(
                transfers.block_length,
                transfers.began_at AT TIME ZONE transfers.timezone,
                timestamp '2000-01-01 00:00'
            ),
            transfers.ended_at AT TIME ZONE transfers.timezone,
            transfers.block_length
        ) AS block (begins_at)
),

-- The time after the last end is the part of a piece in which no earlier transfer was under way. greatest ignores
-- nulls, so all of the first transfer is.
sums AS (
    SELECT
        pieces.side,
        pieces.direction,
        pieces.block_at,
        sum(pieces.ended_at - pieces.began_at) AS busy,
        sum(
            greatest(
                pieces.ended_at - greatest(pieces.began_at, pieces.direction_until), interval '0'
            )
        ) AS direction_covered,
        sum(
            greatest(pieces.ended_at - greatest(pieces.began_at, pieces.all_until), interval '0')
        ) AS all_covered
    FROM pieces
    GROUP BY pieces.side, pieces.direction, pieces.block_at
),

block_sums AS (
    SELECT
        sums.side,
        coalesce(sums.direction, 'all') AS direction,
        sums.block_at,
        (extract(EPOCH FROM sum(sums.busy)) * 1000000)::bigint AS busy_us,
        (
            extract(
                EPOCH FROM
                CASE WHEN sums.direction IS NULL THEN sum(sums.all_covered) ELSE sum(sums.direction_covered) END
            ) * 1000000
        )::bigint AS covered_us
    FROM sums
    GROUP BY sums.side, sums.block_at, GROUPING SETS ((sums.direction), ())
),

-- A direction that only one side has is shown for both.
directions AS (
    SELECT counts.direction
    FROM counts
    GROUP BY counts.direction
    UNION ALL
    SELECT 'all' AS direction
),

known AS (
    SELECT
        counts.side,
        coalesce(counts.direction, 'all') AS direction,
        bool_or(counts.is_known) AS is_known
    FROM counts
    GROUP BY counts.side, GROUPING SETS ((counts.direction), ())
)

SELECT
    blocks.side,
    directions.direction,

    blocks.block_us,
    CASE WHEN known.is_known IS NOT FALSE THEN coalesce(block_sums.busy_us, 0) END AS busy_us,
    CASE
        WHEN known.is_known IS NOT FALSE THEN blocks.block_us - coalesce(block_sums.covered_us, 0)
    END AS idle_us,

    blocks.block_at,
    blocks.span_began_at,
    blocks.span_ended_at
FROM blocks
CROSS JOIN directions
LEFT JOIN known ON blocks.side = known.side AND directions.direction = known.direction
LEFT JOIN block_sums
    ON
        blocks.side = block_sums.side
        AND directions.direction = block_sums.direction
        AND blocks.block_at = block_sums.block_at

$function$;
