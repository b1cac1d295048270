CREATE FUNCTION mart.project_cold_data(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    held_by text DEFAULT 'account',
    path_depth integer DEFAULT 2,
    idle_days double precision[] DEFAULT '{1,7,30,90,365}'
) RETURNS TABLE (
    archive text,
    kind text,
    holder text,
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

-- A version that begins with a transfer has its number. Copies and renames are in no list of names. The
-- range is repeated for the names, so that months outside it are not read. Both sides are materialized, so
-- that the planner compares the costs of joining them alone: beside what it expects of following files,
-- every join costs the same, and it may compare each file with each name.
WITH transfer_names AS MATERIALIZED (
    SELECT found.*
    FROM mart.transfer_names AS found
    WHERE
        found.ended_at >= coalesce(project_cold_data.since, timestamptz '-infinity')
        AND found.ended_at < coalesce(project_cold_data.until, timestamptz 'infinity')
        AND CASE project_cold_data.held_by
            WHEN 'account' THEN found.account
            WHEN 'path' THEN found.archive_path
        END IS NOT NULL
),

cold_files AS MATERIALIZED (
    SELECT found.*
    FROM
        mart.cold_files(
            archive => project_cold_data.archive,
            since => project_cold_data.since,
            until => project_cold_data.until,
            interface => project_cold_data.interface,
            direction => project_cold_data.direction,
            client => project_cold_data.client,
            class_of_service => project_cold_data.class_of_service,
            idle_days => project_cold_data.idle_days
        ) AS found
    WHERE project_cold_data.held_by IN ('account', 'path')
),

files AS (
    SELECT
        cold_files.*,
        CASE project_cold_data.held_by
            WHEN 'account' THEN transfer_names.account
            WHEN 'path' THEN mart.path_folder(transfer_names.archive_path, project_cold_data.path_depth)
        END AS holder
    FROM cold_files
    LEFT JOIN transfer_names
        ON
            cold_files.version_id = transfer_names.transfer_id
            AND cold_files.first_seen_at = transfer_names.ended_at
)

SELECT
    files.archive,
    files.kind,
    files.holder,

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
    files.holder,
    files.idle_from_days,
    files.idle_to_days,
    files.log_ends_at

$function$;
