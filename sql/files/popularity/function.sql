CREATE FUNCTION mart.popularity(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    top_ratios double precision[] DEFAULT '{0.01,0.1}'
) RETURNS TABLE (
    archive text,
    kind text,
    top_ratio double precision,
    file_count bigint,
    top_file_count bigint,
    get_count bigint,
    top_get_count bigint,
    top_get_ratio double precision,
    fewest_get_count bigint
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH files AS (
    SELECT
        accesses.archive,
        accesses.kind,
        accesses.version_id,
        count(*) AS get_count
    FROM
        mart.file_accesses(
            archive => popularity.archive,
            since => popularity.since,
            until => popularity.until,
            interface => popularity.interface,
            direction => popularity.direction,
            client => popularity.client,
            class_of_service => popularity.class_of_service
        ) AS accesses
    GROUP BY accesses.archive, accesses.kind, accesses.version_id
),

-- Which of several files with equally many gets is first does not change the counts.
ranked AS (
    SELECT
        files.*,
        row_number() OVER (PARTITION BY files.archive ORDER BY files.get_count DESC) AS file_rank,
        count(*) OVER (PARTITION BY files.archive) AS file_count,
        sum(files.get_count) OVER (PARTITION BY files.archive) AS all_count
    FROM files
),

tops AS (
    SELECT DISTINCT asked.top_ratio
    FROM unnest(popularity.top_ratios) AS asked (top_ratio)
    WHERE asked.top_ratio <= 1
)

-- As a float, a share of files that is a whole number may be a little more.
SELECT
    ranked.archive,
    ranked.kind,
    tops.top_ratio,
    ranked.file_count,
    count(*) AS top_file_count,
    ranked.all_count::bigint AS get_count,
    sum(ranked.get_count)::bigint AS top_get_count,
    (sum(ranked.get_count) / ranked.all_count)::double precision AS top_get_ratio,
    min(ranked.get_count) AS fewest_get_count
FROM ranked
INNER JOIN tops ON ranked.file_rank <= ceil(tops.top_ratio::numeric * ranked.file_count)
GROUP BY ranked.archive, ranked.kind, tops.top_ratio, ranked.file_count, ranked.all_count

$function$;
