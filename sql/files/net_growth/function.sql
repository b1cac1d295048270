CREATE FUNCTION mart.net_growth(
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
    put_count bigint,
    copy_count bigint,
    deleted_count bigint,
    overwritten_count bigint,
    unknown_size_count bigint,
    new_name_count bigint,
    unnamed_count bigint,
    put_bytes numeric,
    copied_bytes numeric,
    deleted_bytes numeric,
    overwritten_bytes numeric,
    net_bytes numeric,
    starts_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH archives AS (
    SELECT * FROM mart.archives
),

events AS (
    SELECT * FROM mart.file_events
),

changes AS (
    SELECT
        histories.archive,
        histories.kind,
        histories.event,
        histories.version_bytes AS size_bytes,
        histories.is_name_new,
        FALSE AS is_unnamed,
        histories.happened_at
    FROM
        mart.file_histories(
            archive => net_growth.archive,
            since => net_growth.since,
            until => net_growth.until,
            interface => net_growth.interface,
            direction => net_growth.direction,
            client => net_growth.client,
            class_of_service => net_growth.class_of_service
        ) AS histories
    WHERE histories.event IN ('put', 'copy', 'delete', 'overwrite')
    UNION ALL
    -- Logs without file names show what was added, but never what it replaced.
    SELECT
        events.archive,
        events.kind,
        events.event,
        CASE WHEN NOT events.is_size_saturated THEN events.size_bytes END AS size_bytes,
        FALSE AS is_name_new,
        TRUE AS is_unnamed,
        events.happened_at
    FROM events
    WHERE
        events.event IN ('put', 'copy', 'delete')
        AND events.file_key IS NULL
        AND (net_growth.archive IS NULL OR events.archive = net_growth.archive)
        AND events.happened_at >= coalesce(net_growth.since, timestamptz '-infinity')
        AND events.happened_at < coalesce(net_growth.until, timestamptz 'infinity')
        AND (net_growth.interface IS NULL OR events.interface = net_growth.interface)
        AND (net_growth.direction IS NULL OR net_growth.direction = 'put')
        AND (net_growth.client IS NULL OR events.client = net_growth.client)
        AND (net_growth.class_of_service IS NULL OR events.class_of_service = net_growth.class_of_service)
),

dated AS (
    SELECT
        changes.*,
        (changes.happened_at AT TIME ZONE archives.timezone)::date AS starts_on
    FROM changes
    INNER JOIN archives ON changes.archive = archives.archive
),

days AS (
    SELECT
        dated.archive,
        dated.kind,
        count(*) FILTER (WHERE dated.event = 'put') AS put_count,
        count(*) FILTER (WHERE dated.event = 'copy') AS copy_count,
        count(*) FILTER (WHERE dated.event = 'delete') AS deleted_count,
        count(*) FILTER (WHERE dated.event = 'overwrite') AS overwritten_count,
        count(*) FILTER (WHERE dated.size_bytes IS NULL) AS unknown_size_count,
        count(*) FILTER (WHERE dated.is_name_new) AS new_name_count,
        count(*) FILTER (WHERE dated.is_unnamed) AS unnamed_count,
        coalesce(sum(dated.size_bytes) FILTER (WHERE dated.event = 'put'), 0) AS put_bytes,
        coalesce(sum(dated.size_bytes) FILTER (WHERE dated.event = 'copy'), 0) AS copied_bytes,
        coalesce(sum(dated.size_bytes) FILTER (WHERE dated.event = 'delete'), 0) AS deleted_bytes,
        coalesce(sum(dated.size_bytes) FILTER (WHERE dated.event = 'overwrite'), 0) AS overwritten_bytes,
        dated.starts_on
    FROM dated
    GROUP BY dated.archive, dated.kind, dated.starts_on
)

SELECT
    days.archive,
    days.kind,

    days.put_count,
    days.copy_count,
    days.deleted_count,
    days.overwritten_count,
    days.unknown_size_count,
    days.new_name_count,
    days.unnamed_count,
    days.put_bytes,
    days.copied_bytes,
    days.deleted_bytes,
    days.overwritten_bytes,
    days.put_bytes + days.copied_bytes - days.deleted_bytes - days.overwritten_bytes AS net_bytes,

    days.starts_on
FROM days

$function$;
