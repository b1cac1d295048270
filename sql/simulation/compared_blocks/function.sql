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

-- The length of a block, null for days.
spans AS (
    SELECT
        requests.side,
        requests.timezone,
        make_interval(
            secs => CASE WHEN compared_blocks.block_s > 0 THEN compared_blocks.block_s END
        ) AS block_length,
        requests.span_began_at,
        requests.span_ended_at
    FROM requests
    GROUP BY requests.side, requests.timezone, requests.span_began_at, requests.span_ended_at
),

-- Midnights are counted in local time, so that a day can have 23 or 25 hours.
blocks AS (
    SELECT
        spans.side,
        spans.span_began_at,
        spans.span_ended_at,
        day.midnight AT TIME ZONE spans.timezone AS block_at,
        (day.midnight + interval '1 day') AT TIME ZONE spans.timezone AS next_at
    FROM spans
    CROSS JOIN
        generate_series(
            date_trunc('day', spans.span_began_at AT TIME ZONE spans.timezone),
            spans.span_ended_at AT TIME ZONE spans.timezone,
            interval '1 day'
        ) AS day (midnight)
    WHERE spans.block_length IS NULL
    UNION ALL
    SELECT
        spans.side,
        spans.span_began_at,
        spans.span_ended_at,
        series.block_at,
        series.block_at + spans.block_length AS next_at
    FROM spans
    CROSS JOIN
        generate_series(
            date_bin(spans.block_length, spans.span_began_at, timestamptz '2000-01-01 00:00Z'),
            spans.span_ended_at,
            spans.block_length
        ) AS series (block_at)
),

directions AS (
    SELECT requests.direction
    FROM requests
    GROUP BY requests.direction
    UNION ALL
    SELECT 'all' AS direction
),

-- The number under way changes where a transfer begins or ends. Nothing changes where a block begins, but
-- what follows belongs to that block.
changes AS (
    SELECT
        requests.side,
        of_direction.direction,
        change.change,
        change.happened_at,
        NULL::timestamptz AS block_at,
        requests.span_ended_at
    FROM requests
    CROSS JOIN
        LATERAL (
            VALUES (requests.direction), ('all')
        ) AS of_direction (direction)
    CROSS JOIN
        LATERAL (
            VALUES (1, requests.started_at), (-1, requests.ended_at)
        ) AS change (change, happened_at)
    WHERE requests.started_at <= requests.ended_at
    UNION ALL
    SELECT
        blocks.side,
        directions.direction,
        0 AS change,
        greatest(blocks.block_at, blocks.span_began_at) AS happened_at,
        blocks.block_at,
        blocks.span_ended_at
    FROM blocks
    CROSS JOIN directions
),

-- If a log never records when a transfer began, none is seen under way. That does not mean that none was.
not_known AS (
    SELECT
        requests.side,
        of_direction.direction
    FROM requests
    CROSS JOIN LATERAL (VALUES (requests.direction), ('all')) AS of_direction (direction)
    GROUP BY requests.side, of_direction.direction
    HAVING NOT coalesce(bool_or(requests.started_at <= requests.ended_at), FALSE)
),

levels AS (
    SELECT
        changes.side,
        changes.direction,
        sum(changes.change) OVER in_time AS level,
        max(changes.block_at) OVER in_time AS block_at,
        (
            extract(
                EPOCH FROM
                coalesce(lead(changes.happened_at) OVER in_time, changes.span_ended_at) - changes.happened_at
            ) * 1000000
        )::bigint AS lasting_us
    FROM changes
    WINDOW in_time AS (PARTITION BY changes.side, changes.direction ORDER BY changes.happened_at)
)

SELECT
    levels.side,
    levels.direction,

    sum(levels.lasting_us)::bigint AS block_us,
    CASE
        WHEN not_known.side IS NULL THEN sum(levels.level * levels.lasting_us)
    END::bigint AS busy_us,
    CASE
        WHEN not_known.side IS NULL
            THEN coalesce(sum(levels.lasting_us) FILTER (WHERE levels.level = 0), 0)
    END::bigint AS idle_us,

    levels.block_at,
    spans.span_began_at,
    spans.span_ended_at
FROM levels
INNER JOIN spans ON levels.side = spans.side
LEFT JOIN not_known ON levels.side = not_known.side AND levels.direction = not_known.direction
GROUP BY
    levels.side,
    levels.direction,
    levels.block_at,
    not_known.side,
    spans.span_began_at,
    spans.span_ended_at

$function$;
