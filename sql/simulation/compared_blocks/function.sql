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
    b_until timestamptz DEFAULT NULL,
    timezone text DEFAULT NULL,
    asked_from timestamptz DEFAULT NULL
) RETURNS TABLE (
    side text,
    direction text,
    quantity text,
    statistic text,
    unit text,
    factor double precision,
    numerator bigint,
    denominator bigint,
    request_count bigint,
    block_us bigint,
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
            block_s => compared_blocks.block_s,
            b_since => compared_blocks.b_since,
            b_until => compared_blocks.b_until,
            timezone => compared_blocks.timezone,
            asked_from => compared_blocks.asked_from
        ) AS requests
),

waits AS (
    SELECT * FROM mart.request_waits
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

-- The time after the last end is the part of a piece in which no earlier transfer was under way. greatest
-- ignores nulls, so all of the first transfer is.
covered AS (
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

busy_times AS (
    SELECT
        covered.side,
        coalesce(covered.direction, 'all') AS direction,
        covered.block_at,
        (extract(EPOCH FROM sum(covered.busy)) * 1000000)::bigint AS busy_us,
        (
            extract(
                EPOCH FROM
                CASE
                    WHEN covered.direction IS NULL THEN sum(covered.all_covered)
                    ELSE sum(covered.direction_covered)
                END
            ) * 1000000
        )::bigint AS covered_us
    FROM covered
    GROUP BY covered.side, covered.block_at, GROUPING SETS ((covered.direction), ())
),

-- A direction that only one side has is shown for both, and of one archive alone, both directions are.
directions AS (
    SELECT counts.direction
    FROM counts
    GROUP BY counts.direction
    UNION
    SELECT 'all' AS direction
    UNION
    SELECT alone.direction
    FROM (VALUES ('put'), ('get')) AS alone (direction)
    WHERE compared_blocks.b IS NULL
),

known AS (
    SELECT
        counts.side,
        coalesce(counts.direction, 'all') AS direction,
        bool_or(counts.is_known) AS is_known
    FROM counts
    GROUP BY counts.side, GROUPING SETS ((counts.direction), ())
),

-- When the file of a request was asked for before, on any day.
uses AS (
    SELECT
        requests.side,
        requests.direction,
        requests.block_at,
        requests.asked_at,
        lag(requests.asked_at) OVER (
            PARTITION BY requests.side, requests.file_key ORDER BY requests.asked_at
        ) AS asked_before_at
    FROM requests
    WHERE requests.file_key IS NOT NULL
),

gets_of_files AS (
    SELECT
        uses.side,
        uses.block_at,
        count(*) AS file_known_count,
        count(*) FILTER (WHERE uses.asked_before_at > uses.asked_at - interval '1 day') AS again_count
    FROM uses
    WHERE uses.direction = 'get'
    GROUP BY uses.side, uses.block_at
),

hours AS (
    SELECT
        requests.side,
        requests.block_at,
        count(*) AS request_count,
        count(*) FILTER (
            WHERE extract(HOUR FROM requests.asked_at AT TIME ZONE requests.timezone) BETWEEN 8 AND 17
        ) AS working_count
    FROM requests
    GROUP BY
        requests.side,
        requests.block_at,
        date_trunc('hour', requests.asked_at, requests.timezone)
),

hours_of_blocks AS (
    SELECT
        hours.side,
        hours.block_at,
        sum(hours.request_count::numeric * hours.request_count) AS hour_square_sum,
        sum(hours.working_count) AS working_count
    FROM hours
    GROUP BY hours.side, hours.block_at
),

users AS (
    SELECT
        requests.side,
        requests.block_at,
        count(*) AS request_count
    FROM requests
    WHERE requests.user_id IS NOT NULL
    GROUP BY requests.side, requests.block_at, requests.user_id
),

users_of_blocks AS (
    SELECT
        users.side,
        users.block_at,
        count(*) AS user_count,
        sum(users.request_count) AS user_known_count,
        max(users.request_count) AS most_count
    FROM users
    GROUP BY users.side, users.block_at
),

-- Times are in whole microseconds, and logarithms in whole billionths, because integers give the same sum in
-- any order.
sums AS (
    SELECT
        requests.side,
        coalesce(requests.direction, 'all') AS direction,
        requests.block_at,
        count(*) AS all_count,
        sum(requests.size_bytes) AS size_bytes,
        count(nullif(requests.size_bytes, 0)) AS size_count,
        sum(round(ln(nullif(requests.size_bytes, 0)::double precision) * 1e9)::bigint) AS log_size_sum,
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
        -- Where there was no contention, runs that were stored earlier may have some billionths of a second.
        count(*) FILTER (WHERE round(waits.contention_s * 1e6) > 0) AS contention_count,
        sum(round(waits.contention_s * 1e6)::bigint) AS contention_us
    FROM requests
    LEFT JOIN waits ON requests.archive = waits.archive AND requests.transfer_id = waits.transfer_id
    GROUP BY requests.side, requests.block_at, GROUPING SETS ((requests.direction), ())
),

-- How long each block was, and how busy.
times AS (
    SELECT
        blocks.side,
        directions.direction,
        blocks.block_us,
        CASE WHEN known.is_known IS NOT FALSE THEN coalesce(busy_times.busy_us, 0) END AS busy_us,
        CASE
            WHEN known.is_known IS NOT FALSE THEN blocks.block_us - coalesce(busy_times.covered_us, 0)
        END AS idle_us,
        blocks.block_at,
        blocks.span_began_at,
        blocks.span_ended_at
    FROM blocks
    CROSS JOIN directions
    LEFT JOIN known ON blocks.side = known.side AND directions.direction = known.direction
    LEFT JOIN busy_times
        ON
            blocks.side = busy_times.side
            AND directions.direction = busy_times.direction
            AND blocks.block_at = busy_times.block_at
),

parts AS (
    SELECT
        times.side,
        times.direction,
        part.quantity,
        part.statistic,
        part.unit,
        part.factor,
        part.numerator,
        part.denominator,
        part.request_count,
        times.block_us,
        times.block_at,
        times.span_began_at,
        times.span_ended_at
    FROM times
    LEFT JOIN sums
        ON
            times.side = sums.side
            AND times.block_at = sums.block_at
            AND times.direction = sums.direction
    CROSS JOIN
        LATERAL (
            VALUES
            (
                'requests',
                'per day',
                '1/day',
                86400e6,
                coalesce(sums.all_count, 0),
                times.block_us,
                sums.all_count
            ),
            (
                'bytes',
                'per day',
                'bytes/day',
                86400e6,
                coalesce(sums.size_bytes, 0),
                times.block_us,
                sums.all_count
            ),
            ('under way', 'mean', '1', 1, times.busy_us, times.block_us, sums.all_count),
            ('none under way', 'share', '1', 1, times.idle_us, times.block_us, sums.all_count),
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
            times.direction = 'get'
            OR part.quantity NOT IN ('stage time', 'found on disk', 'joined a stage')
        )
        -- Of both directions together, it would mostly show how many of them are gets, which wait for tapes.
        AND (times.direction <> 'all' OR part.quantity <> 'open time')
    UNION ALL
    SELECT
        times.side,
        times.direction,
        part.quantity,
        part.statistic,
        part.unit,
        1 AS factor,
        part.numerator,
        part.denominator,
        part.request_count,
        times.block_us,
        times.block_at,
        times.span_began_at,
        times.span_ended_at
    FROM times
    LEFT JOIN sums
        ON
            times.side = sums.side
            AND times.block_at = sums.block_at
            AND times.direction = sums.direction
    LEFT JOIN hours_of_blocks
        ON times.side = hours_of_blocks.side AND times.block_at = hours_of_blocks.block_at
    LEFT JOIN users_of_blocks
        ON times.side = users_of_blocks.side AND times.block_at = users_of_blocks.block_at
    LEFT JOIN gets_of_files
        ON times.side = gets_of_files.side AND times.block_at = gets_of_files.block_at
    CROSS JOIN
        LATERAL (
            VALUES
            (
                'requests',
                'dispersion',
                '1',
                coalesce(hours_of_blocks.hour_square_sum, 0),
                coalesce(sums.all_count, 0),
                sums.all_count
            ),
            ('size', 'geometric mean', 'bytes', sums.log_size_sum, sums.size_count, sums.size_count),
            (
                'users',
                'per block',
                '1',
                users_of_blocks.user_count,
                sign(users_of_blocks.user_known_count),
                users_of_blocks.user_known_count
            ),
            (
                'of the busiest user',
                'share',
                '1',
                users_of_blocks.most_count,
                users_of_blocks.user_known_count,
                users_of_blocks.user_known_count
            ),
            ('from 8 to 18 h', 'share', '1', hours_of_blocks.working_count, sums.all_count, sums.all_count),
            (
                'file used the day before',
                'share',
                '1',
                gets_of_files.again_count,
                gets_of_files.file_known_count,
                gets_of_files.file_known_count
            )
        ) AS part (quantity, statistic, unit, numerator, denominator, request_count)
    -- Hours without a request count for the dispersion.
    WHERE times.direction = 'all' AND (part.statistic = 'dispersion' OR part.denominator > 0)
)

SELECT
    parts.side,
    parts.direction,
    parts.quantity,
    parts.statistic,
    parts.unit,

    parts.factor,
    parts.numerator::bigint AS numerator,
    parts.denominator::bigint AS denominator,
    coalesce(parts.request_count, 0)::bigint AS request_count,
    parts.block_us,

    parts.block_at,
    parts.span_began_at,
    parts.span_ended_at
FROM parts

$function$;
