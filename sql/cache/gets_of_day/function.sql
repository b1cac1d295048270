CREATE FUNCTION mart.gets_of_day(
    archive text,
    timezone text,
    ended_on date
) RETURNS TABLE (
    kind text,
    source text,
    interface text,
    class_of_service text,
    size_class text,
    is_cached boolean,
    is_joined boolean,
    is_staging_bypassed boolean,
    is_size_saturated boolean,
    get_count bigint,
    size_bytes numeric
)
LANGUAGE sql STABLE STRICT PARALLEL SAFE
AS $function$

-- Being STRICT, it is not inlined. So a query that calls it for days of which there may be none does not plan
-- how requests are read, which takes longer than an answer from cells.
SELECT
    requests.kind,
    requests.source,
    requests.interface,
    requests.class_of_service,
    mart.size_class(requests.size_bytes) AS size_class,
    requests.is_cached,
    requests.is_joined,
    requests.is_staging_bypassed,
    requests.is_size_saturated,
    count(*) AS get_count,
    coalesce(sum(requests.size_bytes), 0) AS size_bytes
FROM
    -- PostgreSQL takes a midnight that clocks show twice for the second one, at most three hours later.
    mart.selected_requests(
        archive => gets_of_day.archive,
        since => gets_of_day.ended_on::timestamp AT TIME ZONE gets_of_day.timezone - interval '3 hours',
        until => (gets_of_day.ended_on + 1)::timestamp AT TIME ZONE gets_of_day.timezone,
        direction => 'get'
    ) AS requests
WHERE
    NOT requests.is_failed
    AND NOT requests.is_warm_up
    AND (requests.ended_at AT TIME ZONE gets_of_day.timezone)::date = gets_of_day.ended_on
GROUP BY
    requests.kind,
    requests.source,
    requests.interface,
    requests.class_of_service,
    mart.size_class(requests.size_bytes),
    requests.is_cached,
    requests.is_joined,
    requests.is_staging_bypassed,
    requests.is_size_saturated

$function$;
