CREATE FUNCTION mart.project_shares(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    shared_by text DEFAULT 'account',
    ranked_by text DEFAULT 'requests',
    path_depth integer DEFAULT 2
) RETURNS TABLE (
    archive text,
    kind text,
    holder text,
    holder_rank bigint,
    holder_count bigint,
    request_count bigint,
    unknown_size_count bigint,
    size_bytes numeric,
    request_ratio double precision,
    size_ratio double precision,
    running_request_ratio double precision,
    running_size_ratio double precision,
    first_at timestamptz,
    last_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- The range is repeated for the names, so that their other months are not read either.
WITH counts AS (
    SELECT
        requests.archive,
        requests.kind,
        CASE project_shares.shared_by
            WHEN 'account' THEN names.account
            WHEN 'path' THEN mart.path_folder(names.archive_path, project_shares.path_depth)
        END AS holder,
        count(*) AS request_count,
        count(*) FILTER (WHERE requests.size_bytes IS NULL) AS unknown_size_count,
        coalesce(sum(requests.size_bytes), 0) AS size_bytes,
        min(requests.ended_at) AS first_at,
        max(requests.ended_at) AS last_at,
        CASE project_shares.ranked_by
            WHEN 'requests' THEN count(*)
            WHEN 'bytes' THEN coalesce(sum(requests.size_bytes), 0)
        END AS measure
    FROM
        mart.selected_requests(
            archive => project_shares.archive,
            since => project_shares.since,
            until => project_shares.until,
            interface => project_shares.interface,
            direction => project_shares.direction,
            client => project_shares.client,
            class_of_service => project_shares.class_of_service
        ) AS requests
    INNER JOIN mart.transfer_names AS names
        ON requests.transfer_id = names.transfer_id AND requests.ended_at = names.ended_at
    WHERE
        names.ended_at >= coalesce(project_shares.since, timestamptz '-infinity')
        AND names.ended_at < coalesce(project_shares.until, timestamptz 'infinity')
        AND requests.is_failed IS NOT TRUE
        -- Whether a path is known costs less to find out than its folder.
        AND CASE project_shares.shared_by
            WHEN 'account' THEN names.account
            WHEN 'path' THEN names.archive_path
        END IS NOT NULL
    GROUP BY requests.archive, requests.kind, holder
),

ranked AS (
    SELECT
        counts.*,
        row_number() OVER running AS holder_rank,
        count(*) OVER everybody AS holder_count,
        sum(counts.request_count) OVER everybody AS all_count,
        nullif(sum(counts.size_bytes) OVER everybody, 0) AS all_bytes,
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
    ranked.unknown_size_count,
    ranked.size_bytes,

    (ranked.request_count / ranked.all_count)::double precision AS request_ratio,
    (ranked.size_bytes / ranked.all_bytes)::double precision AS size_ratio,
    (ranked.running_count / ranked.all_count)::double precision AS running_request_ratio,
    (ranked.running_bytes / ranked.all_bytes)::double precision AS running_size_ratio,

    ranked.first_at,
    ranked.last_at
FROM ranked

$function$;
