CREATE FUNCTION mart.file_versions(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    version_id bigint,
    origin text,
    fate text,
    interface text,
    user_id integer,
    client text,
    class_of_service text,
    file_key bigint,
    last_file_key bigint,
    size_bytes bigint,
    get_count bigint,
    rename_count bigint,
    lifetime_s double precision,
    put_at timestamptz,
    first_seen_at timestamptz,
    first_get_at timestamptz,
    last_used_at timestamptz,
    ended_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- Interface, user, client and `file_key` come from a version's first event: its put, or the first event that
-- mentions it.
WITH versions AS (
    SELECT
        histories.archive,
        histories.kind,
        histories.version_id,
        min(histories.origin) AS origin,
        min(histories.interface) FILTER (WHERE histories.event_number = 1) AS interface,
        min(histories.user_id) FILTER (WHERE histories.event_number = 1) AS user_id,
        min(histories.client) FILTER (WHERE histories.event_number = 1) AS client,
        min(histories.version_class) AS class_of_service,
        min(histories.file_key) FILTER (WHERE histories.event_number = 1) AS file_key,
        (array_agg(histories.file_key ORDER BY histories.event_number DESC))[1] AS last_file_key,
        min(histories.version_bytes) AS size_bytes,
        count(*) FILTER (WHERE histories.event = 'get') AS get_count,
        count(*) FILTER (WHERE histories.event = 'rename') AS rename_count,
        min(histories.event) FILTER (WHERE histories.event IN ('delete', 'overwrite')) AS ending,
        min(histories.born_at) AS born_at,
        min(histories.happened_at) AS first_seen_at,
        min(histories.happened_at) FILTER (WHERE histories.event = 'get') AS first_get_at,
        max(histories.happened_at) FILTER (WHERE histories.event IN ('put', 'copy', 'get')) AS last_used_at,
        min(histories.happened_at) FILTER (WHERE histories.event IN ('delete', 'overwrite')) AS ended_at,
        CASE min(histories.event) FILTER (WHERE histories.event_number = 1)
            WHEN 'get' THEN 'get'
            ELSE 'put'
        END AS direction
    FROM
        mart.file_histories(archive => file_versions.archive, until => file_versions.until) AS histories
    GROUP BY histories.archive, histories.kind, histories.version_id
)

SELECT
    versions.archive,
    versions.kind,
    versions.version_id,
    versions.origin,
    CASE versions.ending
        WHEN 'delete' THEN 'deleted'
        WHEN 'overwrite' THEN 'overwritten'
        ELSE 'kept'
    END AS fate,
    versions.interface,
    versions.user_id,
    versions.client,
    versions.class_of_service,
    versions.file_key,
    versions.last_file_key,

    versions.size_bytes,
    versions.get_count,
    versions.rename_count,
    extract(EPOCH FROM versions.ended_at - versions.born_at)::double precision AS lifetime_s,

    versions.born_at AS put_at,
    versions.first_seen_at,
    versions.first_get_at,
    versions.last_used_at,
    versions.ended_at
FROM versions
WHERE
    versions.first_seen_at >= coalesce(file_versions.since, timestamptz '-infinity')
    AND (file_versions.interface IS NULL OR versions.interface = file_versions.interface)
    AND (file_versions.direction IS NULL OR versions.direction = file_versions.direction)
    AND (file_versions.client IS NULL OR versions.client = file_versions.client)
    AND (file_versions.class_of_service IS NULL OR versions.class_of_service = file_versions.class_of_service)

$function$;
