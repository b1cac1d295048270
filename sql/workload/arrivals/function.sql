CREATE FUNCTION mart.arrivals(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    grouped_by text[] DEFAULT '{interface,direction}'
) RETURNS TABLE (
    archive text,
    kind text,
    interface text,
    direction text,
    is_time_of_day_unknown boolean,
    asked_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- A request that was asked for before `until` may end at any time after it, so ended_at has no upper bound.
SELECT
    requests.archive,
    requests.kind,
    CASE WHEN 'interface' = any(arrivals.grouped_by) THEN requests.interface END AS interface,
    CASE WHEN 'direction' = any(arrivals.grouped_by) THEN requests.direction END AS direction,
    requests.is_time_of_day_unknown,
    requests.asked_at
FROM
    mart.workload_requests(
        archive => arrivals.archive,
        since => arrivals.since,
        interface => arrivals.interface,
        direction => arrivals.direction,
        client => arrivals.client,
        class_of_service => arrivals.class_of_service
    ) AS requests
WHERE
    requests.asked_at >= coalesce(arrivals.since, timestamptz '-infinity')
    AND requests.asked_at < coalesce(arrivals.until, timestamptz 'infinity')
    AND arrivals.grouped_by <@ ARRAY['interface', 'direction']

$function$;
