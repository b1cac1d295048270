CREATE FUNCTION mart.net_growth(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    is_fresh boolean DEFAULT FALSE
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
    newer_event_count bigint,
    computed_at timestamptz,
    starts_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH days AS (
    SELECT
        found.archive,
        found.kind,
        sum(found.put_count)::bigint AS put_count,
        sum(found.copy_count)::bigint AS copy_count,
        sum(found.deleted_count)::bigint AS deleted_count,
        sum(found.overwritten_count)::bigint AS overwritten_count,
        sum(found.unknown_size_count)::bigint AS unknown_size_count,
        sum(found.new_name_count)::bigint AS new_name_count,
        sum(found.unnamed_count)::bigint AS unnamed_count,
        sum(found.put_bytes) AS put_bytes,
        sum(found.copied_bytes) AS copied_bytes,
        sum(found.deleted_bytes) AS deleted_bytes,
        sum(found.overwritten_bytes) AS overwritten_bytes,
        max(found.newer_event_count) AS newer_event_count,
        max(found.computed_at) AS computed_at,
        found.starts_on
    FROM
        mart.selected_file_days(
            archive => net_growth.archive,
            since => net_growth.since,
            until => net_growth.until,
            interface => net_growth.interface,
            direction => 'put',
            client => net_growth.client,
            class_of_service => net_growth.class_of_service,
            is_fresh => net_growth.is_fresh
        ) AS found
    WHERE net_growth.direction IS NULL OR net_growth.direction = 'put'
    GROUP BY found.archive, found.kind, found.starts_on
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

    days.newer_event_count,
    days.computed_at,
    days.starts_on
FROM days

$function$;
