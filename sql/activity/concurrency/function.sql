CREATE FUNCTION mart.concurrency(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    under_way bigint,
    lasting_s double precision,
    lasting_ratio double precision,
    at_least_s double precision,
    at_least_ratio double precision,
    begun_count bigint,
    begun_ratio double precision,
    begun_at_least_count bigint,
    begun_at_least_ratio double precision,
    unplaced_count bigint,
    is_wait_included boolean
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- 1. days, archives: what the rows are about, and whether the log extends beyond the range.
-- 2. transfers, events, levels: in the order of time, how many transfers are under way after each event.
-- 3. steps, numbers, sums: how long each number lasted, and how many transfers began with it.
WITH days AS (
    SELECT
        day_cells.archive,
        sum(day_cells.day_only_count) FILTER (
            WHERE
            day_cells.starts_on
            >= (coalesce(concurrency.since, timestamptz '-infinity') AT TIME ZONE day_cells.timezone)::date
            AND day_cells.starts_on <= (
                (coalesce(concurrency.until, timestamptz 'infinity') - interval '1 microsecond')
                AT TIME ZONE day_cells.timezone
            )::date
        ) AS day_only_count,
        bool_or(mart.holds_port_wait(day_cells.kind, day_cells.interface)) AS is_wait_included,
        min(day_cells.starts_on) AS first_on,
        max(day_cells.starts_on) AS last_on
    FROM mart.day_cells
    WHERE
        (concurrency.interface IS NULL OR day_cells.interface = concurrency.interface)
        AND (concurrency.direction IS NULL OR day_cells.direction = concurrency.direction)
        AND (
            concurrency.class_of_service IS NULL
            OR day_cells.class_of_service = concurrency.class_of_service
        )
    GROUP BY day_cells.archive
),

-- An archive has a number here, because names take twice as long to sort.
archives AS MATERIALIZED (
    SELECT
        archives.*,
        coalesce(days.day_only_count, 0) AS hour_unknown_count,
        days.is_wait_included,
        row_number() OVER (ORDER BY archives.archive)::integer AS archive_number,
        days.first_on < (archives.first_at AT TIME ZONE archives.timezone)::date AS has_before,
        days.last_on > ((archives.last_at - interval '1 microsecond') AT TIME ZONE archives.timezone)::date
            AS has_after
    FROM (
        SELECT
            archives.archive,
            archives.kind,
            archives.timezone,
            greatest(coalesce(concurrency.since, timestamptz '-infinity'), archives.retained_since)
                AS first_at,
            coalesce(concurrency.until, timestamptz 'infinity') AS last_at
        FROM mart.archives
        WHERE concurrency.archive IS NULL OR archives.archive = concurrency.archive
    ) AS archives
    INNER JOIN days ON archives.archive = days.archive
    WHERE archives.first_at < archives.last_at
),

-- What a transfer does in the range: 1 begins, 2 goes on from before, 4 takes no time, 5 takes an unknown
-- time. (3 is the end of a transfer, and 0 an edge of the range.)
transfers AS MATERIALIZED (
    SELECT
        archives.archive_number,
        CASE
            WHEN under_way.started_at <= under_way.ended_at
                THEN
                    CASE
                        WHEN under_way.started_at = under_way.ended_at THEN 4
                        WHEN under_way.started_at < archives.first_at THEN 2
                        ELSE 1
                    END
            ELSE 5
        END AS kind,
        greatest(under_way.started_at, archives.first_at) AS from_at,
        least(under_way.ended_at, archives.last_at) AS to_at
    FROM
        mart.transfers_under_way(
            archive => concurrency.archive,
            since => concurrency.since,
            until => concurrency.until,
            interface => concurrency.interface,
            direction => concurrency.direction,
            client => concurrency.client,
            class_of_service => concurrency.class_of_service
        ) AS under_way
    INNER JOIN archives ON under_way.archive = archives.archive
),

events AS (
    SELECT
        transfers.archive_number,
        transfers.kind,
        CASE WHEN transfers.kind = 5 THEN transfers.to_at ELSE transfers.from_at END AS happened_at
    FROM transfers
    UNION ALL
    SELECT
        transfers.archive_number,
        3 AS kind,
        transfers.to_at AS happened_at
    FROM transfers
    WHERE transfers.kind < 3
    UNION ALL
    SELECT
        archives.archive_number,
        0 AS kind,
        edge.happened_at
    FROM archives
    CROSS JOIN
        LATERAL (
            VALUES (archives.has_before, archives.first_at), (archives.has_after, archives.last_at)
        ) AS edge (is_covered, happened_at)
    WHERE edge.is_covered
),

-- What holds from an event until the next. Of events at the same time, only the last one lasts, and each
-- shows what holds after all of them: a transfer that begins when another ends does not overlap it.
levels AS (
    SELECT
        events.archive_number,
        events.kind,
        sum(CASE WHEN events.kind IN (1, 2) THEN 1 WHEN events.kind = 3 THEN -1 ELSE 0 END) OVER in_time
            AS level,
        (date_part('epoch', lead(events.happened_at) OVER in_time - events.happened_at) * 1e6)::bigint
            AS lasting_us
    FROM events
    WINDOW in_time AS (PARTITION BY events.archive_number ORDER BY events.happened_at)
),

steps AS (
    SELECT
        levels.archive_number,
        levels.kind,
        levels.level,
        count(*) AS event_count,
        coalesce(sum(levels.lasting_us), 0) AS lasting_us
    FROM levels
    GROUP BY levels.archive_number, levels.kind, levels.level
),

-- A transfer that takes no time is not under way, but it counts itself.
numbers AS (
    SELECT
        steps.archive_number,
        number.under_way,
        coalesce(sum(number.lasting_us), 0) AS lasting_us,
        coalesce(sum(number.begun_count), 0) AS begun_count,
        coalesce(sum(number.unknown_count), 0) AS unknown_count
    FROM steps
    CROSS JOIN
        LATERAL (
            VALUES
            (
                steps.level,
                steps.lasting_us,
                CASE WHEN steps.kind = 1 THEN steps.event_count END,
                CASE WHEN steps.kind = 5 THEN steps.event_count END
            ),
            (steps.level + 1, 0, CASE WHEN steps.kind = 4 THEN steps.event_count END, 0)
        ) AS number (under_way, lasting_us, begun_count, unknown_count)
    WHERE number.under_way = steps.level OR steps.kind = 4
    GROUP BY steps.archive_number, number.under_way
),

sums AS (
    SELECT
        numbers.archive_number,
        numbers.under_way,
        numbers.lasting_us,
        numbers.begun_count,
        sum(numbers.lasting_us) OVER of_archive AS all_us,
        sum(numbers.begun_count) OVER of_archive AS all_count,
        sum(numbers.lasting_us) OVER at_least AS at_least_us,
        sum(numbers.begun_count) OVER at_least AS at_least_count,
        sum(numbers.unknown_count) OVER of_archive AS unknown_count,
        max(numbers.under_way) OVER of_archive AS most_under_way
    FROM numbers
    WINDOW
        of_archive AS (PARTITION BY numbers.archive_number),
        at_least AS (PARTITION BY numbers.archive_number ORDER BY numbers.under_way DESC)
)

SELECT
    archives.archive,
    archives.kind,
    sums.under_way,

    sums.lasting_us / 1e6::double precision AS lasting_s,
    sums.lasting_us / nullif(sums.all_us, 0)::double precision AS lasting_ratio,
    sums.at_least_us / 1e6::double precision AS at_least_s,
    sums.at_least_us / nullif(sums.all_us, 0)::double precision AS at_least_ratio,

    sums.begun_count::bigint AS begun_count,
    sums.begun_count / nullif(sums.all_count, 0)::double precision AS begun_ratio,
    sums.at_least_count::bigint AS begun_at_least_count,
    sums.at_least_count / nullif(sums.all_count, 0)::double precision AS begun_at_least_ratio,

    (sums.unknown_count + archives.hour_unknown_count)::bigint AS unplaced_count,
    archives.is_wait_included
FROM sums
INNER JOIN archives ON sums.archive_number = archives.archive_number
WHERE
    (sums.lasting_us > 0 OR sums.begun_count > 0)
    -- If none is known to have been under way, that does not mean that none was.
    AND (sums.most_under_way > 0 OR sums.unknown_count + archives.hour_unknown_count = 0)
    -- If no transfers of a client were read, it may not even exist.
    AND (concurrency.client IS NULL OR sums.most_under_way > 0)

$function$;
