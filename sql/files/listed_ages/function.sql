CREATE FUNCTION mart.listed_ages(
    archive text DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    state text DEFAULT NULL,
    location text DEFAULT NULL,
    age_days double precision[] DEFAULT '{1,7,30,90,365}'
) RETURNS TABLE (
    archive text,
    kind text,
    age_from_days double precision,
    age_to_days double precision,
    file_count bigint,
    unknown_size_count bigint,
    size_bytes numeric,
    file_ratio double precision,
    size_ratio double precision,
    listed_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH listings AS (
    SELECT
        snapshots.archive,
        max(snapshots.listed_at) AS listed_at
    FROM mart.snapshots
    WHERE
        snapshots.item_kind = 'file'
        AND (listed_ages.archive IS NULL OR snapshots.archive = listed_ages.archive)
        AND snapshots.listed_at < coalesce(listed_ages.until, timestamptz 'infinity')
    GROUP BY snapshots.archive
),

-- The place is null for files of which the listing does not say when they were last used.
files AS (
    SELECT
        snapshots.archive,
        snapshots.kind,
        width_bucket(
            extract(EPOCH FROM snapshots.listed_at - snapshots.since_at)::double precision / 86400,
            mart.ascending_edges(listed_ages.age_days)
        ) AS place,
        snapshots.size_bytes,
        snapshots.listed_at
    FROM mart.snapshots
    INNER JOIN listings
        ON snapshots.archive = listings.archive AND snapshots.listed_at = listings.listed_at
    WHERE
        snapshots.item_kind = 'file'
        AND (
            listed_ages.class_of_service IS NULL
            OR snapshots.class_of_service = listed_ages.class_of_service
        )
        AND (listed_ages.state IS NULL OR snapshots.state = listed_ages.state)
        AND (listed_ages.location IS NULL OR snapshots.location = listed_ages.location)
)

SELECT
    files.archive,
    files.kind,

    CASE files.place WHEN 0 THEN 0 ELSE (mart.ascending_edges(listed_ages.age_days))[files.place] END
        AS age_from_days,
    (mart.ascending_edges(listed_ages.age_days))[files.place + 1] AS age_to_days,
    count(*) AS file_count,
    count(*) FILTER (WHERE files.size_bytes IS NULL) AS unknown_size_count,
    sum(files.size_bytes) AS size_bytes,
    count(*) / (sum(count(*)) OVER of_archive)::double precision AS file_ratio,
    (sum(files.size_bytes) / nullif(sum(sum(files.size_bytes)) OVER of_archive, 0))::double precision
        AS size_ratio,

    files.listed_at
FROM files
GROUP BY files.archive, files.kind, files.place, files.listed_at
WINDOW of_archive AS (PARTITION BY files.archive)

$function$;
