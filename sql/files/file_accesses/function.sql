CREATE FUNCTION mart.file_accesses(
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
    transfer_id bigint,
    version_id bigint,
    origin text,
    interface text,
    user_id integer,
    client text,
    class_of_service text,
    file_key bigint,
    size_bytes bigint,
    age_s double precision,
    earlier_get_count bigint,
    since_last_get_s double precision,
    put_at timestamptz,
    ended_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- Counted over all gets so far, of any user; the final filter decides which of them are shown.
WITH gets AS (
    SELECT
        histories.*,
        'get' AS direction,
        row_number() OVER lives - 1 AS earlier_get_count,
        lag(histories.happened_at) OVER lives AS last_get_at
    FROM
        mart.file_histories(archive => file_accesses.archive, until => file_accesses.until) AS histories
    WHERE histories.event = 'get'
    WINDOW lives AS (PARTITION BY histories.archive, histories.version_id ORDER BY histories.event_number)
)

SELECT
    gets.archive,
    gets.kind,
    gets.event_id AS transfer_id,
    gets.version_id,
    gets.origin,
    gets.interface,
    gets.user_id,
    gets.client,
    gets.class_of_service,
    gets.file_key,

    gets.size_bytes,
    extract(EPOCH FROM gets.happened_at - gets.born_at)::double precision AS age_s,
    gets.earlier_get_count,
    extract(EPOCH FROM gets.happened_at - gets.last_get_at)::double precision AS since_last_get_s,

    gets.born_at AS put_at,
    gets.happened_at AS ended_at
FROM gets
WHERE
    gets.happened_at >= coalesce(file_accesses.since, timestamptz '-infinity')
    AND (file_accesses.interface IS NULL OR gets.interface = file_accesses.interface)
    AND (file_accesses.direction IS NULL OR gets.direction = file_accesses.direction)
    AND (file_accesses.client IS NULL OR gets.client = file_accesses.client)
    AND (file_accesses.class_of_service IS NULL OR gets.class_of_service = file_accesses.class_of_service)

$function$;
