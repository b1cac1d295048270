CREATE FUNCTION mart.working_sets(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    period text DEFAULT 'day'
) RETURNS TABLE (
    archive text,
    kind text,
    use_count bigint,
    file_count bigint,
    size_bytes numeric,
    unknown_size_count bigint,
    starts_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH uses AS (
    SELECT
        events.archive,
        events.kind,
        events.file_key,
        events.size_bytes,
        date_trunc(working_sets.period, events.happened_at, archives.timezone) AS starts_at
    FROM mart.file_events AS events
    INNER JOIN mart.archives ON events.archive = archives.archive
    WHERE
        events.event IN ('put', 'get')
        AND events.file_key IS NOT NULL
        AND working_sets.period IN ('hour', 'day', 'week', 'month')
        AND (working_sets.archive IS NULL OR events.archive = working_sets.archive)
        AND events.happened_at >= coalesce(working_sets.since, timestamptz '-infinity')
        AND events.happened_at < coalesce(working_sets.until, timestamptz 'infinity')
        AND (working_sets.interface IS NULL OR events.interface = working_sets.interface)
        AND (working_sets.direction IS NULL OR events.event = working_sets.direction)
        AND (working_sets.client IS NULL OR events.client = working_sets.client)
        AND (
            working_sets.class_of_service IS NULL
            OR events.class_of_service = working_sets.class_of_service
        )
),

-- A get of a part of a file moves less than its size, so the largest size counts.
files AS (
    SELECT
        uses.archive,
        uses.kind,
        count(*) AS use_count,
        max(uses.size_bytes) AS size_bytes,
        uses.starts_at
    FROM uses
    GROUP BY uses.archive, uses.kind, uses.file_key, uses.starts_at
)

SELECT
    files.archive,
    files.kind,

    sum(files.use_count)::bigint AS use_count,
    count(*) AS file_count,
    coalesce(sum(files.size_bytes), 0) AS size_bytes,
    count(*) FILTER (WHERE files.size_bytes IS NULL) AS unknown_size_count,

    files.starts_at
FROM files
GROUP BY files.archive, files.kind, files.starts_at

$function$;
