CREATE FUNCTION mart.open_time_clusters(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    size_from_bytes bigint DEFAULT NULL,
    size_to_bytes bigint DEFAULT NULL,
    boundaries_s double precision[] DEFAULT NULL,
    staging_rate_bytes_per_s double precision DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    group_number integer,
    group_name text,
    boundaries_by text,
    from_s double precision,
    to_s double precision,
    request_count bigint,
    doubtful_count bigint,
    bypassed_count bigint,
    unknown_count bigint,
    request_ratio double precision,
    doubtful_ratio double precision,
    min_open_s double precision,
    max_open_s double precision,
    mean_open_s double precision
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- Cells know which requests have a size, and the bins of their open times. They answer if all sizes are asked
-- for, and if the boundaries that were given are edges of bins.
WITH opens AS (
    SELECT selected.*
    FROM
        mart.selected_opens(
            archive => open_time_clusters.archive,
            since => open_time_clusters.since,
            until => open_time_clusters.until,
            interface => open_time_clusters.interface,
            direction => open_time_clusters.direction,
            client => open_time_clusters.client,
            class_of_service => open_time_clusters.class_of_service,
            is_exact => coalesce(open_time_clusters.size_from_bytes, 1) > 0
            OR open_time_clusters.size_to_bytes IS NOT NULL
            OR NOT mart.are_open_boundaries(open_time_clusters.boundaries_s)
        ) AS selected
    WHERE selected.direction = 'get'
),

-- If only one of the two sizes is given, the other end is open; with neither, the range is SDSC's.
sizes AS NOT MATERIALIZED (
    SELECT
        coalesce(
            open_time_clusters.size_from_bytes,
            CASE WHEN open_time_clusters.size_to_bytes IS NULL THEN 90000000 ELSE 0 END
        ) AS from_bytes,
        coalesce(
            open_time_clusters.size_to_bytes,
            CASE WHEN open_time_clusters.size_from_bytes IS NULL THEN 110000000 ELSE 9223372036854775807 END
        ) AS to_bytes
),

methods AS NOT MATERIALIZED (
    SELECT
        CASE
            WHEN cardinality(open_time_clusters.boundaries_s) > 0 THEN 'given'
            WHEN open_time_clusters.boundaries_s IS NOT NULL THEN 'valleys'
            WHEN open_time_clusters.staging_rate_bytes_per_s IS NOT NULL THEN 'staging rate'
            WHEN sizes.from_bytes >= 90000000 AND sizes.to_bytes <= 110000000 THEN 'SDSC'
            ELSE 'valleys'
        END AS boundaries_by
    FROM sizes
),

asked_for AS (
    SELECT
        opens.archive,
        opens.kind,
        opens.is_staging_bypassed,
        coalesce(opens.open_s, opens.open_from_s) AS open_s,
        sum(opens.request_count) AS request_count,
        sum(opens.open_us) AS open_us,
        -- How much longer staging takes than for SDSC's 100 MB. A rate of zero or less is an error.
        CASE
            WHEN methods.boundaries_by = 'staging rate'
                THEN (min(opens.size_bytes) - 1e8) / greatest(open_time_clusters.staging_rate_bytes_per_s, 0)
            ELSE 0
        END AS shift_s,
        CASE
            WHEN methods.boundaries_by = 'staging rate'
                THEN min(opens.size_bytes) / open_time_clusters.staging_rate_bytes_per_s
            ELSE 0
        END AS staging_s
    FROM opens
    CROSS JOIN sizes
    CROSS JOIN methods
    WHERE
        opens.is_sized
        AND (opens.size_bytes BETWEEN sizes.from_bytes AND sizes.to_bytes) IS NOT FALSE
    GROUP BY
        opens.archive,
        opens.kind,
        opens.is_staging_bypassed,
        coalesce(opens.open_s, opens.open_from_s),
        CASE WHEN methods.boundaries_by = 'staging rate' THEN opens.size_bytes END,
        methods.boundaries_by
),

given AS (
    SELECT array_agg(DISTINCT boundary_s ORDER BY boundary_s) AS boundaries_s
    FROM unnest(open_time_clusters.boundaries_s) AS boundaries (boundary_s)
),

-- Rows are read only if boundaries must be found in the data, because the condition is evaluated first.
valleys AS (
    SELECT
        found.archive,
        array_agg(found.boundary_s ORDER BY found.boundary_s) AS boundaries_s
    FROM sizes
    CROSS JOIN methods
    CROSS JOIN
        mart.open_time_valleys(
            archive => open_time_clusters.archive,
            since => open_time_clusters.since,
            until => open_time_clusters.until,
            interface => open_time_clusters.interface,
            client => open_time_clusters.client,
            class_of_service => open_time_clusters.class_of_service,
            size_from_bytes => sizes.from_bytes,
            size_to_bytes => sizes.to_bytes
        ) AS found
    WHERE methods.boundaries_by = 'valleys'
    GROUP BY found.archive
),

archives AS (
    SELECT
        asked_for.archive,
        asked_for.kind,
        coalesce(sum(asked_for.request_count) FILTER (WHERE asked_for.is_staging_bypassed), 0)::bigint
            AS bypassed_count,
        coalesce(sum(asked_for.request_count) FILTER (WHERE asked_for.is_staging_bypassed IS NULL), 0)::bigint
            AS unknown_count,
        coalesce(sum(asked_for.request_count) FILTER (WHERE NOT asked_for.is_staging_bypassed), 0)::bigint
            AS request_count
    FROM asked_for
    GROUP BY asked_for.archive, asked_for.kind
),

boundaries AS (
    SELECT
        archives.*,
        methods.boundaries_by,
        CASE methods.boundaries_by
            WHEN 'valleys' THEN coalesce(valleys.boundaries_s, ARRAY[]::double precision[])
            WHEN 'given' THEN given.boundaries_s
            ELSE ARRAY[8, 60, 130]::double precision[]
        END AS boundaries_s
    FROM archives
    CROSS JOIN methods
    CROSS JOIN given
    LEFT JOIN valleys ON archives.archive = valleys.archive
),

-- The first boundary ends the group of files on disk. It does not move with the size, because nothing is
-- staged in less time. The others do, but never below the first.
placed AS (
    SELECT
        asked_for.archive,
        asked_for.open_s,
        asked_for.request_count,
        asked_for.open_us,
        CASE
            WHEN (asked_for.open_s < boundaries.boundaries_s[1]) IS NOT FALSE THEN 1
            ELSE
                greatest(1 + width_bucket(asked_for.open_s - asked_for.shift_s, boundaries.boundaries_s), 2)
        END AS group_number,
        -- Too slow for a disk, but too fast to have been staged from tape.
        (asked_for.open_s >= boundaries.boundaries_s[1] AND asked_for.open_s < asked_for.staging_s)
        OR EXISTS (
            SELECT 1
            FROM unnest(boundaries.boundaries_s) WITH ORDINALITY AS each_one (boundary_s, place)
            CROSS JOIN
                LATERAL (
                    SELECT
                        greatest(
                            boundaries.boundaries_s[1],
                            each_one.boundary_s
                            + CASE WHEN each_one.place > 1 THEN asked_for.shift_s ELSE 0 END
                        ) AS boundary_s
                ) AS moved
            WHERE
                asked_for.open_s >= moved.boundary_s / 1.25
                AND asked_for.open_s < moved.boundary_s * 1.25
        ) AS is_doubtful
    FROM asked_for
    INNER JOIN boundaries ON asked_for.archive = boundaries.archive
    WHERE NOT asked_for.is_staging_bypassed
),

counts AS (
    SELECT
        placed.archive,
        placed.group_number,
        sum(placed.request_count)::bigint AS request_count,
        coalesce(sum(placed.request_count) FILTER (WHERE placed.is_doubtful), 0)::bigint AS doubtful_count,
        sum(placed.request_count) FILTER (WHERE placed.open_s < 8) AS disk_count,
        min(placed.open_s) AS min_open_s,
        max(placed.open_s) AS max_open_s,
        (sum(placed.open_us) / sum(placed.request_count) / 1000000)::double precision AS mean_open_s
    FROM placed
    GROUP BY placed.archive, placed.group_number
),

-- Each group of an archive, including empty ones.
groups AS (
    SELECT
        boundaries.archive,
        boundaries.kind,
        boundaries.boundaries_by,
        boundaries.bypassed_count,
        boundaries.unknown_count,
        boundaries.request_count AS total_count,
        numbers.group_number,
        cardinality(boundaries.boundaries_s) AS boundary_count,
        CASE
            WHEN numbers.group_number > 1 THEN boundaries.boundaries_s[numbers.group_number - 1] ELSE 0
        END AS from_s,
        boundaries.boundaries_s[numbers.group_number] AS to_s,
        coalesce(counts.request_count, 0) AS request_count,
        coalesce(counts.doubtful_count, 0) AS doubtful_count,
        counts.min_open_s,
        counts.max_open_s,
        counts.mean_open_s,
        -- At least nineteen in twenty opened faster than any file from tape at SDSC.
        bool_or(counts.disk_count >= 0.95 * counts.request_count) FILTER (
            WHERE numbers.group_number = 1
        ) OVER (PARTITION BY boundaries.archive) AS is_first_disk
    FROM boundaries
    CROSS JOIN LATERAL generate_series(1, cardinality(boundaries.boundaries_s) + 1) AS numbers (group_number)
    LEFT JOIN counts
        ON boundaries.archive = counts.archive AND numbers.group_number = counts.group_number
)

SELECT
    groups.archive,
    groups.kind,
    groups.group_number,
    CASE
        WHEN groups.boundary_count = 3 AND (groups.boundaries_by != 'valleys' OR groups.is_first_disk)
            THEN (ARRAY['disk', 'seek', 'library', 'shelf or contention'])[groups.group_number]
        WHEN groups.group_number = 1 AND groups.is_first_disk THEN 'disk'
    END AS group_name,
    groups.boundaries_by,

    groups.from_s,
    groups.to_s,
    groups.request_count,
    groups.doubtful_count,
    groups.bypassed_count,
    groups.unknown_count,
    groups.request_count / nullif(groups.total_count, 0)::double precision AS request_ratio,
    groups.doubtful_count / nullif(groups.request_count, 0)::double precision AS doubtful_ratio,
    groups.min_open_s,
    groups.max_open_s,
    groups.mean_open_s
FROM groups

$function$;
