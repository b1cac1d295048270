CREATE FUNCTION mart.cold_files(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    idle_days double precision[] DEFAULT '{1,7,30,90,365}'
) RETURNS TABLE (
    version_id bigint,
    archive text,
    kind text,
    user_id integer,
    class_of_service text,
    idle_from_days double precision,
    idle_to_days double precision,
    size_bytes bigint,
    is_never_read boolean,
    first_seen_at timestamptz,
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
        (cold_files.archive IS NULL OR events.archive = cold_files.archive)
        AND events.happened_at < coalesce(cold_files.until, timestamptz 'infinity')
    GROUP BY events.archive
),

-- The place is null for files of which the log has no use.
files AS (
    SELECT
        versions.*,
        width_bucket(
            extract(EPOCH FROM logs.ends_at - versions.last_used_at)::double precision / 86400,
            mart.ascending_edges(cold_files.idle_days)
        ) AS place,
        logs.ends_at
    FROM
        mart.file_versions(
            archive => cold_files.archive,
            since => cold_files.since,
            until => cold_files.until,
            interface => cold_files.interface,
            direction => cold_files.direction,
            client => cold_files.client,
            class_of_service => cold_files.class_of_service
        ) AS versions
    INNER JOIN logs ON versions.archive = logs.archive
    WHERE versions.fate = 'kept'
)

SELECT
    files.version_id,
    files.archive,
    files.kind,
    files.user_id,
    files.class_of_service,

    CASE files.place WHEN 0 THEN 0 ELSE (mart.ascending_edges(cold_files.idle_days))[files.place] END
        AS idle_from_days,
    (mart.ascending_edges(cold_files.idle_days))[files.place + 1] AS idle_to_days,
    files.size_bytes,

    files.put_at IS NOT NULL AND files.get_count = 0 AS is_never_read,

    files.first_seen_at,
    files.ends_at AS log_ends_at
FROM files

$function$;
