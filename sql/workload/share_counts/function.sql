CREATE FUNCTION mart.share_counts(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    shared_by text DEFAULT 'user',
    period text DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    holder text,
    request_count bigint,
    size_bytes numeric,
    range_s double precision,
    starts_on date,
    ends_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH ranges AS (
    SELECT selected.*
    FROM
        mart.share_ranges(
            archive => share_counts.archive,
            since => share_counts.since,
            until => share_counts.until,
            period => share_counts.period
        ) AS selected
),

-- Users have cells. Clients and classes of service have none that count requests with their bytes.
parts AS (
    SELECT
        ranges.archive,
        users.holder::text AS holder,
        users.request_count,
        users.size_bytes
    FROM ranges
    CROSS JOIN
        LATERAL mart.selected_users(
            archive => ranges.archive,
            since => ranges.since_at,
            until => ranges.until_at,
            interface => share_counts.interface,
            direction => share_counts.direction,
            client => share_counts.client,
            class_of_service => share_counts.class_of_service
        ) AS cells
    CROSS JOIN
        LATERAL unnest(cells.user_ids, cells.request_counts, cells.size_bytes)
            AS users (holder, request_count, size_bytes)
    WHERE share_counts.shared_by = 'user'

    UNION ALL

    SELECT
        ranges.archive,
        CASE share_counts.shared_by
            WHEN 'client' THEN requests.client WHEN 'class_of_service' THEN requests.class_of_service
        END AS holder,
        count(*) AS request_count,
        coalesce(sum(requests.size_bytes), 0) AS size_bytes
    FROM ranges
    CROSS JOIN
        -- Two days are more than the longest local day.
        LATERAL mart.selected_requests(
            archive => ranges.archive,
            since => ranges.since_at,
            until => ranges.until_at + interval '2 days',
            interface => share_counts.interface,
            direction => share_counts.direction,
            client => share_counts.client,
            class_of_service => share_counts.class_of_service
        ) AS requests
    WHERE
        share_counts.shared_by IN ('client', 'class_of_service')
        AND requests.transfer_id IS NOT NULL
        AND requests.is_failed IS NOT TRUE
        AND (requests.ended_at AT TIME ZONE requests.timezone)::date <= ranges.ends_on
    GROUP BY 1, 2
)

SELECT
    ranges.archive,
    ranges.kind,
    parts.holder,
    sum(parts.request_count)::bigint AS request_count,
    sum(parts.size_bytes) AS size_bytes,
    ranges.range_s,
    ranges.starts_on,
    ranges.ends_on
FROM parts
INNER JOIN ranges ON parts.archive = ranges.archive
WHERE parts.holder IS NOT NULL
GROUP BY ranges.archive, ranges.kind, parts.holder, ranges.range_s, ranges.starts_on, ranges.ends_on

$function$;
