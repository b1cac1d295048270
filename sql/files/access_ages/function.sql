CREATE FUNCTION mart.access_ages(
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
    age_s double precision,
    get_count bigint,
    unknown_size_count bigint,
    size_bytes numeric,
    newer_event_count bigint,
    computed_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

SELECT
    found.archive,
    found.kind,

    mart.histogram_value(bins.age_bin) AS age_s,
    sum(bins.get_count)::bigint AS get_count,
    sum(bins.unknown_size_count)::bigint AS unknown_size_count,
    sum(bins.size_bytes) AS size_bytes,

    max(found.newer_event_count) AS newer_event_count,
    max(found.computed_at) AS computed_at
FROM
    mart.selected_file_days(
        archive => access_ages.archive,
        since => access_ages.since,
        until => access_ages.until,
        interface => access_ages.interface,
        direction => 'get',
        client => access_ages.client,
        class_of_service => access_ages.class_of_service,
        is_fresh => access_ages.is_fresh
    ) AS found
CROSS JOIN
    unnest(found.age_bins, found.age_get_counts, found.age_unknown_size_counts, found.age_bytes)
        AS bins (age_bin, get_count, unknown_size_count, size_bytes)
WHERE access_ages.direction IS NULL OR access_ages.direction = 'get'
GROUP BY found.archive, found.kind, bins.age_bin

$function$;
