CREATE FUNCTION mart.file_successors(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    together_s double precision DEFAULT NULL,
    top_count integer DEFAULT 100
) RETURNS TABLE (
    archive text,
    kind text,
    pair_rank bigint,
    file_key bigint,
    successor_key bigint,
    last_transfer_id bigint,
    last_successor_id bigint,
    pair_count bigint,
    user_count bigint,
    file_get_count bigint,
    successor_get_count bigint,
    confidence_ratio double precision,
    last_ended_at timestamptz,
    last_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- A get that the same file follows is counted with that one.
WITH gets AS (
    SELECT successions.*
    FROM
        mart.get_successions(
            archive => file_successors.archive,
            since => file_successors.since,
            until => file_successors.until,
            interface => file_successors.interface,
            direction => file_successors.direction,
            client => file_successors.client,
            class_of_service => file_successors.class_of_service,
            together_s => file_successors.together_s
        ) AS successions
    WHERE successions.successor_key IS DISTINCT FROM successions.file_key
),

files AS (
    SELECT
        gets.archive,
        gets.file_key,
        count(*) AS get_count
    FROM gets
    GROUP BY gets.archive, gets.file_key
),

pairs AS (
    SELECT
        gets.archive,
        gets.kind,
        gets.file_key,
        gets.successor_key,
        count(*) AS pair_count
    FROM gets
    WHERE gets.successor_key IS NOT NULL
    GROUP BY gets.archive, gets.kind, gets.file_key, gets.successor_key
),

-- Keys decide between pairs that occur equally often, so that the same ones are returned each time.
ranked AS (
    SELECT
        pairs.*,
        row_number() OVER (
            PARTITION BY pairs.archive
            ORDER BY pairs.pair_count DESC, pairs.file_key ASC, pairs.successor_key ASC
        ) AS pair_rank
    FROM pairs
),

tops AS (
    SELECT ranked.*
    FROM ranked
    WHERE ranked.pair_rank <= coalesce(file_successors.top_count, 100)
)

-- Users and the last occurrence are found for these pairs only.
SELECT
    tops.archive,
    tops.kind,
    tops.pair_rank,
    tops.file_key,
    tops.successor_key,
    (array_agg(gets.transfer_id ORDER BY gets.successor_at DESC, gets.successor_id DESC))[1]
        AS last_transfer_id,
    (array_agg(gets.successor_id ORDER BY gets.successor_at DESC, gets.successor_id DESC))[1]
        AS last_successor_id,

    tops.pair_count,
    count(DISTINCT gets.user_id) AS user_count,
    files.get_count AS file_get_count,
    successors.get_count AS successor_get_count,
    tops.pair_count::double precision / files.get_count AS confidence_ratio,

    (array_agg(gets.ended_at ORDER BY gets.successor_at DESC, gets.successor_id DESC))[1] AS last_ended_at,
    max(gets.successor_at) AS last_at
FROM tops
INNER JOIN gets
    ON
        tops.archive = gets.archive
        AND tops.file_key = gets.file_key
        AND tops.successor_key = gets.successor_key
INNER JOIN files ON tops.archive = files.archive AND tops.file_key = files.file_key
INNER JOIN files AS successors
    ON tops.archive = successors.archive AND tops.successor_key = successors.file_key
GROUP BY
    tops.archive,
    tops.kind,
    tops.pair_rank,
    tops.file_key,
    tops.successor_key,
    tops.pair_count,
    files.get_count,
    successors.get_count

$function$;
