CREATE FUNCTION mart.transfer_neighbours(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    size_from_bytes bigint DEFAULT NULL,
    size_to_bytes bigint DEFAULT NULL,
    others_interface text DEFAULT NULL,
    limit_count integer DEFAULT NULL
) RETURNS TABLE (
    transfer_id bigint,
    archive text,
    kind text,
    interface text,
    direction text,
    client text,
    size_bytes bigint,
    duration_s double precision,
    rate_bytes_per_s double precision,
    others_count bigint,
    others_at_start bigint,
    mean_others double precision,
    others_bytes double precision,
    at_limit_s double precision,
    is_failed boolean,
    is_wait_included boolean,
    started_at timestamptz,
    ended_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- 1. asked_for, ranges, others: the transfers that are asked for, and all that were under way at the same
--    time.
-- 2. events, levels, states: in the order of time, how many are under way, and what has added up so far.
-- 3. pairs: the state when a transfer began and the one when it ended.
WITH asked_for AS MATERIALIZED (
    SELECT
        selected.*,
        row_number() OVER (ORDER BY selected.archive, selected.transfer_id) AS asked_number
    FROM
        mart.selected_transfers(
            archive => transfer_neighbours.archive,
            since => transfer_neighbours.since,
            until => transfer_neighbours.until,
            interface => transfer_neighbours.interface,
            direction => transfer_neighbours.direction,
            client => transfer_neighbours.client,
            class_of_service => transfer_neighbours.class_of_service
        ) AS selected
    WHERE
        selected.started_at < selected.ended_at
        AND NOT selected.is_time_of_day_unknown
        AND (
            transfer_neighbours.size_from_bytes IS NULL
            OR selected.size_bytes >= transfer_neighbours.size_from_bytes
        )
        AND (
            transfer_neighbours.size_to_bytes IS NULL
            OR selected.size_bytes < transfer_neighbours.size_to_bytes
        )
),

-- All interfaces, directions and clients of the archive compete.
others AS NOT MATERIALIZED (
    SELECT under_way.*
    FROM
        mart.transfers_under_way(
            archive => transfer_neighbours.archive,
            interface => transfer_neighbours.others_interface
        ) AS under_way
    WHERE
        under_way.started_at < under_way.ended_at
        AND under_way.ended_at > (SELECT min(asked_for.started_at) FROM asked_for)
        AND under_way.started_at < (SELECT max(asked_for.ended_at) FROM asked_for)
),

-- An event is the begin (1) or end (-1) of a transfer that competes, or of one that is asked for (0, with its
-- number). One that is both has both events. Rates are numeric, because floats that are added and subtracted
-- many times leave a rest.
events AS (
    SELECT
        others.archive,
        event.change,
        event.change * others.rate_bytes_per_s::numeric AS rate_change,
        NULL::bigint AS asked_number,
        NULL::boolean AS is_end,
        event.happened_at
    FROM others
    CROSS JOIN LATERAL (VALUES (1, others.started_at), (-1, others.ended_at)) AS event (change, happened_at)
    UNION ALL
    SELECT
        asked_for.archive,
        0 AS change,
        0 AS rate_change,
        asked_for.asked_number,
        event.is_end,
        event.happened_at
    FROM asked_for
    CROSS JOIN
        LATERAL (
            VALUES (FALSE, asked_for.started_at), (TRUE, asked_for.ended_at)
        ) AS event (is_end, happened_at)
),

-- What holds after all events of a time, and how long it does.
levels AS (
    SELECT
        events.archive,
        events.asked_number,
        events.is_end,
        events.happened_at,
        sum(events.change) OVER in_time AS level,
        sum(events.rate_change) OVER in_time AS rate_bytes_per_s,
        count(*) FILTER (WHERE events.change = 1) OVER in_time
        - count(*) FILTER (WHERE events.change = 1) OVER at_once AS begun_before,
        count(*) FILTER (WHERE events.change = -1) OVER in_time AS ended_count,
        (date_part('epoch', lead(events.happened_at) OVER in_time - events.happened_at) * 1e6)::bigint
            AS lasting_us
    FROM events
    WINDOW
        in_time AS (PARTITION BY events.archive ORDER BY events.happened_at),
        at_once AS (PARTITION BY events.archive, events.happened_at)
),

-- What has added up before an event.
states AS (
    SELECT
        levels.asked_number,
        levels.is_end,
        levels.level,
        levels.begun_before,
        levels.ended_count,
        coalesce(sum(levels.level * levels.lasting_us) OVER earlier, 0) AS transfer_us,
        coalesce(sum(levels.rate_bytes_per_s * levels.lasting_us / 1000000) OVER earlier, 0) AS moved_bytes,
        coalesce(
            sum(levels.lasting_us) FILTER (WHERE levels.level >= transfer_neighbours.limit_count)
                OVER earlier,
            0
        ) AS at_limit_us
    FROM levels
    WINDOW
        earlier AS (
            PARTITION BY levels.archive
            ORDER BY levels.happened_at
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        )
),

-- The state when a transfer began, and the one when it ended. What adds up is greater at the end.
pairs AS (
    SELECT
        states.asked_number,
        min(states.level) FILTER (WHERE NOT states.is_end) AS level_at_start,
        max(states.begun_before) - min(states.ended_count) AS met_count,
        max(states.transfer_us) - min(states.transfer_us) AS transfer_us,
        max(states.moved_bytes) - min(states.moved_bytes) AS moved_bytes,
        max(states.at_limit_us) - min(states.at_limit_us) AS at_limit_us
    FROM states
    WHERE states.asked_number IS NOT NULL
    GROUP BY states.asked_number
),

-- A transfer is not its own neighbour. `self` is 1 if it is among the others that were read.
compared AS (
    SELECT
        asked_for.*,
        date_part('epoch', asked_for.ended_at - asked_for.started_at) * 1e6 AS lasting_us,
        pairs.level_at_start,
        pairs.met_count,
        pairs.transfer_us,
        pairs.moved_bytes,
        pairs.at_limit_us,
        CASE
            WHEN
                transfer_neighbours.others_interface IS NULL
                OR transfer_neighbours.others_interface = asked_for.interface
                THEN 1
            ELSE 0
        END AS self
    FROM asked_for
    INNER JOIN pairs ON asked_for.asked_number = pairs.asked_number
)

SELECT
    compared.transfer_id,
    compared.archive,
    compared.kind,
    compared.interface,
    compared.direction,
    compared.client,

    compared.size_bytes,
    compared.duration_s,
    compared.rate_bytes_per_s,
    compared.met_count - compared.self AS others_count,
    compared.level_at_start - compared.self AS others_at_start,
    compared.transfer_us::double precision / compared.lasting_us - compared.self AS mean_others,
    CASE
        WHEN compared.met_count = compared.self THEN 0
        ELSE
            compared.moved_bytes
            - CASE WHEN compared.is_failed THEN 0 ELSE compared.self * coalesce(compared.size_bytes, 0) END
    END::double precision AS others_bytes,
    CASE
        WHEN transfer_neighbours.limit_count IS NOT NULL
            THEN compared.at_limit_us / 1e6::double precision
    END AS at_limit_s,

    compared.is_failed,
    mart.holds_port_wait(compared.kind, compared.interface) AS is_wait_included,

    compared.started_at,
    compared.ended_at
FROM compared

$function$;
