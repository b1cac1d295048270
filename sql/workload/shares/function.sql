CREATE FUNCTION mart.shares(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    shared_by text DEFAULT 'user',
    ranked_by text DEFAULT 'requests',
    period text DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    holder text,
    holder_rank bigint,
    holder_count bigint,
    request_count bigint,
    size_bytes numeric,
    requests_per_hour double precision,
    mean_rate_bytes_per_s double precision,
    holder_ratio double precision,
    request_ratio double precision,
    size_ratio double precision,
    running_request_ratio double precision,
    running_size_ratio double precision,
    gini double precision,
    range_s double precision,
    starts_on date,
    ends_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH counts AS (
    SELECT
        selected.*,
        CASE shares.ranked_by
            WHEN 'requests' THEN selected.request_count
            WHEN 'bytes' THEN selected.size_bytes
        END AS measure
    FROM
        mart.share_counts(
            archive => shares.archive,
            since => shares.since,
            until => shares.until,
            interface => shares.interface,
            direction => shares.direction,
            client => shares.client,
            class_of_service => shares.class_of_service,
            shared_by => shares.shared_by,
            period => shares.period
        ) AS selected
),

ranked AS (
    SELECT
        counts.*,
        row_number() OVER running AS holder_rank,
        count(*) OVER everybody AS holder_count,
        sum(counts.request_count) OVER everybody AS all_count,
        nullif(sum(counts.size_bytes) OVER everybody, 0) AS all_bytes,
        nullif(sum(counts.measure) OVER everybody, 0) AS all_measure,
        sum(counts.request_count) OVER running AS running_count,
        sum(counts.size_bytes) OVER running AS running_bytes
    FROM counts
    WHERE counts.measure IS NOT NULL
    WINDOW
        everybody AS (PARTITION BY counts.archive),
        running AS (
            PARTITION BY counts.archive
            ORDER BY counts.measure DESC, counts.request_count DESC, counts.size_bytes DESC, counts.holder ASC
            ROWS UNBOUNDED PRECEDING
        )
)

SELECT
    ranked.archive,
    ranked.kind,
    ranked.holder,
    ranked.holder_rank,
    ranked.holder_count,

    ranked.request_count,
    ranked.size_bytes,
    ranked.request_count * 3600 / ranked.range_s AS requests_per_hour,
    ranked.size_bytes::double precision / ranked.range_s AS mean_rate_bytes_per_s,

    ranked.holder_rank::double precision / ranked.holder_count AS holder_ratio,
    (ranked.request_count / ranked.all_count)::double precision AS request_ratio,
    (ranked.size_bytes / ranked.all_bytes)::double precision AS size_ratio,
    (ranked.running_count / ranked.all_count)::double precision AS running_request_ratio,
    (ranked.running_bytes / ranked.all_bytes)::double precision AS running_size_ratio,
    (
        (
            ranked.holder_count + 1
            - 2 * sum(ranked.holder_rank * ranked.measure) OVER (PARTITION BY ranked.archive)
            / ranked.all_measure
        ) / ranked.holder_count
    )::double precision AS gini,

    ranked.range_s,
    ranked.starts_on,
    ranked.ends_on
FROM ranked

$function$;
