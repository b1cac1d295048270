CREATE FUNCTION mart.requests_of_day(
    archive text,
    timezone text,
    ended_on date
) RETURNS TABLE (
    kind text,
    source text,
    interface text,
    direction text,
    class_of_service text,
    size_bytes bigint,
    open_s double precision,
    is_failed boolean,
    is_size_saturated boolean,
    is_staging_bypassed boolean,
    is_cached boolean,
    is_joined boolean,
    is_warm_up boolean
)
LANGUAGE sql STABLE STRICT PARALLEL SAFE
AS $function$

-- Being STRICT, it is not inlined. So a query that calls it for days of which there may be none does not plan
-- how requests are read, which takes longer than an answer from cells.
SELECT
    requests.kind,
    requests.source,
    requests.interface,
    requests.direction,
    requests.class_of_service,
    requests.size_bytes,
    requests.open_s,
    requests.is_failed,
    requests.is_size_saturated,
    requests.is_staging_bypassed,
    requests.is_cached,
    requests.is_joined,
    requests.is_warm_up
FROM
    -- PostgreSQL takes a midnight that clocks show twice for the second one, at most three hours later.
    mart.selected_requests(
        archive => requests_of_day.archive,
        since => requests_of_day.ended_on::timestamp AT TIME ZONE requests_of_day.timezone
        - interval '3 hours',
        until => (requests_of_day.ended_on + 1)::timestamp AT TIME ZONE requests_of_day.timezone
    ) AS requests
WHERE (requests.ended_at AT TIME ZONE requests_of_day.timezone)::date = requests_of_day.ended_on

$function$;
