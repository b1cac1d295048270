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

-- Users have cells. Clients and classes of service have none that count requests with their bytes. Where a
-- range is given, it is passed on as it is: only times that are known before the query runs leave out months.
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
            since => CASE WHEN share_counts.period IS NULL THEN share_counts.since ELSE ranges.since_at END,
            until => CASE WHEN share_counts.period IS NULL THEN share_counts.until ELSE ranges.until_at END,
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
        found.holder,
        count(*) AS request_count,
        coalesce(sum(requests.size_bytes), 0) AS size_bytes
    FROM
        -- The range is exact below. A period begins less than two periods before `until`. Two days are more
        -- than the longest local day.
        mart.selected_requests(
            archive => share_counts.archive,
            since => CASE
                WHEN share_counts.period IS NULL THEN share_counts.since - interval '2 days'
                ELSE
                    share_counts.until - CASE share_counts.period
                        WHEN 'day' THEN interval '4 days'
                        WHEN 'week' THEN interval '16 days'
                        WHEN 'month' THEN interval '64 days'
                        WHEN 'year' THEN interval '734 days'
                    END
            END,
            until => share_counts.until + interval '2 days',
            interface => share_counts.interface,
            direction => share_counts.direction,
            client => share_counts.client,
            class_of_service => share_counts.class_of_service
        ) AS requests
    INNER JOIN ranges ON requests.archive = ranges.archive
    -- Not joined at all unless it is asked for.
    LEFT JOIN mart.transfer_networks AS networks
        ON share_counts.shared_by = 'network' AND requests.transfer_id = networks.transfer_id
    CROSS JOIN
        LATERAL (
            VALUES
            (
                CASE share_counts.shared_by
                    WHEN 'client' THEN requests.client WHEN 'class_of_service' THEN requests.class_of_service
                    WHEN 'network' THEN networks.network
                END
            )
        ) AS found (holder)
    WHERE
        share_counts.shared_by IN ('client', 'class_of_service', 'network')
        AND found.holder IS NOT NULL
        AND requests.transfer_id IS NOT NULL
        AND requests.is_failed IS NOT TRUE
        AND requests.ended_at >= ranges.since_at
        AND (requests.ended_at AT TIME ZONE requests.timezone)::date <= ranges.ends_on
    GROUP BY ranges.archive, found.holder
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
GROUP BY ranges.archive, ranges.kind, parts.holder, ranges.range_s, ranges.starts_on, ranges.ends_on

$function$;
