CREATE FUNCTION mart.successor_figures(
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
    get_count bigint,
    file_count bigint,
    repeat_count bigint,
    followed_count bigint,
    pair_count bigint,
    known_count bigint,
    last_successor_count bigint,
    most_frequent_count bigint,
    followed_ratio double precision,
    known_ratio double precision,
    last_successor_ratio double precision,
    most_frequent_ratio double precision
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- The window has a part of its own for gets that nothing follows (a null), and one for repeated gets.
WITH gets AS (
    SELECT
        successions.archive,
        successions.kind,
        successions.file_key,
        successions.successor_key,
        lag(successions.successor_key) OVER (
            PARTITION BY
                successions.archive,
                successions.file_key,
                successions.successor_key = successions.file_key
            ORDER BY successions.successor_at, successions.successor_id
        ) AS last_successor_key
    FROM
        mart.get_successions(
            archive => successor_figures.archive,
            since => successor_figures.since,
            until => successor_figures.until,
            interface => successor_figures.interface,
            direction => successor_figures.direction,
            client => successor_figures.client,
            class_of_service => successor_figures.class_of_service,
            together_s => successor_figures.together_s
        ) AS successions
),

pairs AS (
    SELECT
        gets.archive,
        gets.kind,
        gets.file_key,
        coalesce(gets.successor_key = gets.file_key, FALSE) AS is_repeat,
        coalesce(gets.successor_key <> gets.file_key, FALSE) AS is_pair,
        count(*) AS get_count,
        count(*) FILTER (WHERE gets.last_successor_key = gets.successor_key) AS last_successor_count
    FROM gets
    GROUP BY gets.archive, gets.kind, gets.file_key, gets.successor_key
),

files AS (
    SELECT
        pairs.archive,
        pairs.kind,
        pairs.file_key,
        sum(pairs.get_count) AS get_count,
        sum(pairs.get_count) FILTER (WHERE pairs.is_repeat) AS repeat_count,
        sum(pairs.get_count) FILTER (WHERE pairs.is_pair) AS followed_count,
        count(*) FILTER (WHERE pairs.is_pair) AS pair_count,
        sum(pairs.last_successor_count) FILTER (WHERE pairs.is_pair) AS last_successor_count,
        max(pairs.get_count) FILTER (WHERE pairs.is_pair) AS most_frequent_count
    FROM pairs
    GROUP BY pairs.archive, pairs.kind, pairs.file_key
),

totals AS (
    SELECT
        files.archive,
        files.kind,
        sum(files.get_count)::bigint AS get_count,
        count(*) AS file_count,
        coalesce(sum(files.repeat_count), 0)::bigint AS repeat_count,
        coalesce(sum(files.followed_count), 0)::bigint AS followed_count,
        sum(files.pair_count)::bigint AS pair_count,
        coalesce(sum(files.last_successor_count), 0)::bigint AS last_successor_count,
        coalesce(sum(files.most_frequent_count), 0)::bigint AS most_frequent_count
    FROM files
    GROUP BY files.archive, files.kind
)

-- The first time that a file follows another, no earlier get could say so.
SELECT
    totals.archive,
    totals.kind,

    totals.get_count,
    totals.file_count,
    totals.repeat_count,
    totals.followed_count,
    totals.pair_count,
    totals.followed_count - totals.pair_count AS known_count,
    totals.last_successor_count,
    totals.most_frequent_count,

    totals.followed_count::double precision / totals.get_count AS followed_ratio,
    (totals.followed_count - totals.pair_count)::double precision / totals.get_count AS known_ratio,
    totals.last_successor_count::double precision / totals.get_count AS last_successor_ratio,
    totals.most_frequent_count::double precision / totals.get_count AS most_frequent_ratio
FROM totals

$function$;
