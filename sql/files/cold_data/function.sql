CREATE FUNCTION mart.cold_data(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    grouped_by text[] DEFAULT '{}',
    idle_days double precision[] DEFAULT '{1,7,30,90,365}'
) RETURNS TABLE (
    archive text,
    kind text,
    user_id integer,
    class_of_service text,
    idle_from_days double precision,
    idle_to_days double precision,
    file_count bigint,
    size_bytes numeric,
    unknown_size_count bigint,
    never_read_count bigint,
    never_read_bytes numeric,
    log_ends_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- Only the columns of the groupings that are asked for have values.
WITH files AS (
    SELECT
        found.archive,
        found.kind,
        CASE WHEN 'user' = any(cold_data.grouped_by) THEN found.user_id END AS user_id,
        CASE WHEN 'class_of_service' = any(cold_data.grouped_by) THEN found.class_of_service END
            AS class_of_service,
        found.idle_from_days,
        found.idle_to_days,
        found.size_bytes,
        found.is_never_read,
        found.log_ends_at
    FROM
        mart.cold_files(
            archive => cold_data.archive,
            since => cold_data.since,
            until => cold_data.until,
            interface => cold_data.interface,
            direction => cold_data.direction,
            client => cold_data.client,
            class_of_service => cold_data.class_of_service,
            idle_days => cold_data.idle_days
        ) AS found
    WHERE cold_data.grouped_by <@ ARRAY['user', 'class_of_service']
)

SELECT
    files.archive,
    files.kind,
    files.user_id,
    files.class_of_service,

    files.idle_from_days,
    files.idle_to_days,
    count(*) AS file_count,
    coalesce(sum(files.size_bytes), 0) AS size_bytes,
    count(*) FILTER (WHERE files.size_bytes IS NULL) AS unknown_size_count,
    count(*) FILTER (WHERE files.is_never_read) AS never_read_count,
    coalesce(sum(files.size_bytes) FILTER (WHERE files.is_never_read), 0) AS never_read_bytes,

    files.log_ends_at
FROM files
GROUP BY
    files.archive,
    files.kind,
    files.user_id,
    files.class_of_service,
    files.idle_from_days,
    files.idle_to_days,
    files.log_ends_at

$function$;
