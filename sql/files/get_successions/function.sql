CREATE FUNCTION mart.get_successions(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    together_s double precision DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    transfer_id bigint,
    user_id integer,
    file_key bigint,
    successor_id bigint,
    successor_key bigint,
    pause_s double precision,
    started_at timestamptz,
    ended_at timestamptz,
    successor_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- A get without a known start was at least under way when it ended. A user belongs to one archive.
WITH gets AS (
    SELECT
        transfers.archive,
        transfers.kind,
        transfers.transfer_id,
        transfers.user_id,
        transfers.file_key,
        coalesce(transfers.started_at, transfers.ended_at) AS started_at,
        transfers.ended_at
    FROM
        mart.selected_transfers(
            archive => get_successions.archive,
            since => get_successions.since,
            until => get_successions.until,
            interface => get_successions.interface,
            direction => get_successions.direction,
            client => get_successions.client,
            class_of_service => get_successions.class_of_service
        ) AS transfers
    WHERE
        transfers.direction = 'get'
        AND NOT transfers.is_failed
        AND NOT transfers.is_of_parts
        AND NOT transfers.is_time_of_day_unknown
        AND transfers.user_id IS NOT NULL
        AND transfers.file_key IS NOT NULL
),

ordered AS (
    SELECT
        gets.*,
        lead(gets.transfer_id) OVER of_user AS next_id,
        lead(gets.file_key) OVER of_user AS next_key,
        lead(gets.started_at) OVER of_user AS next_at
    FROM gets
    WINDOW of_user AS (PARTITION BY gets.user_id ORDER BY gets.started_at, gets.transfer_id)
),

paused AS (
    SELECT
        ordered.*,
        -- Unlike other functions, greatest() ignores nulls.
        CASE
            WHEN ordered.next_at IS NOT NULL
                THEN greatest(extract(EPOCH FROM ordered.next_at - ordered.ended_at), 0)
        END::double precision AS pause_s
    FROM ordered
),

judged AS (
    SELECT
        paused.*,
        coalesce(paused.pause_s <= coalesce(get_successions.together_s, 60), FALSE) AS is_followed
    FROM paused
)

SELECT
    judged.archive,
    judged.kind,
    judged.transfer_id,
    judged.user_id,
    judged.file_key,
    CASE WHEN judged.is_followed THEN judged.next_id END AS successor_id,
    CASE WHEN judged.is_followed THEN judged.next_key END AS successor_key,

    CASE WHEN judged.is_followed THEN judged.pause_s END AS pause_s,

    judged.started_at,
    judged.ended_at,
    CASE WHEN judged.is_followed THEN judged.next_at END AS successor_at
FROM judged

$function$;
