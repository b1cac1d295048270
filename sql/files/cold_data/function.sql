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

WITH logs AS (
    SELECT
        events.archive,
        max(events.happened_at) AS ends_at
    FROM mart.file_events AS events
    WHERE
        (cold_data.archive IS NULL OR events.archive = cold_data.archive)
        AND events.happened_at < coalesce(cold_data.until, timestamptz 'infinity')
    GROUP BY events.archive
),

-- Only the columns of the groupings that are asked for have values. The place is null for files of which the
-- log has no use.
files AS (
    SELECT
        versions.archive,
        versions.kind,
        CASE WHEN 'user' = any(cold_data.grouped_by) THEN versions.user_id END AS user_id,
        CASE WHEN 'class_of_service' = any(cold_data.grouped_by) THEN versions.class_of_service END
            AS class_of_service,
        width_bucket(
            extract(EPOCH FROM logs.ends_at - versions.last_used_at)::double precision / 86400,
            cold_data.idle_days
        ) AS place,
        versions.size_bytes,
        versions.put_at IS NOT NULL AND versions.get_count = 0 AS is_never_read,
        logs.ends_at
    FROM
        mart.file_versions(
            archive => cold_data.archive,
            since => cold_data.since,
            until => cold_data.until,
            interface => cold_data.interface,
            direction => cold_data.direction,
            client => cold_data.client,
            class_of_service => cold_data.class_of_service
        ) AS versions
    INNER JOIN logs ON versions.archive = logs.archive
    WHERE
        versions.fate = 'kept'
        AND cold_data.grouped_by <@ ARRAY['user', 'class_of_service']
)

SELECT
    files.archive,
    files.kind,
    files.user_id,
    files.class_of_service,

    CASE files.place WHEN 0 THEN 0 ELSE cold_data.idle_days[files.place] END AS idle_from_days,
    cold_data.idle_days[files.place + 1] AS idle_to_days,
    count(*) AS file_count,
    coalesce(sum(files.size_bytes), 0) AS size_bytes,
    count(*) FILTER (WHERE files.size_bytes IS NULL) AS unknown_size_count,
    count(*) FILTER (WHERE files.is_never_read) AS never_read_count,
    coalesce(sum(files.size_bytes) FILTER (WHERE files.is_never_read), 0) AS never_read_bytes,

    files.ends_at AS log_ends_at
FROM files
GROUP BY files.archive, files.kind, files.user_id, files.class_of_service, files.place, files.ends_at

$function$;
