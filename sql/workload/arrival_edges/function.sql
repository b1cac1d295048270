CREATE FUNCTION mart.arrival_edges(
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
    interface text,
    direction text,
    from_at timestamptz,
    to_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- Cells stay when transfers are forgotten, so the log of a group goes back beyond forgotten days.
WITH groups AS (
    SELECT
        day_cells.archive,
        day_cells.timezone,
        CASE WHEN 'interface' = any(arrival_edges.grouped_by) THEN day_cells.interface END AS interface,
        CASE WHEN 'direction' = any(arrival_edges.grouped_by) THEN day_cells.direction END AS direction,
        min(day_cells.starts_on) AS first_on,
        max(day_cells.starts_on) AS last_on
    FROM mart.day_cells
    WHERE
        (arrival_edges.archive IS NULL OR day_cells.archive = arrival_edges.archive)
        AND (arrival_edges.interface IS NULL OR day_cells.interface = arrival_edges.interface)
        AND (arrival_edges.direction IS NULL OR day_cells.direction = arrival_edges.direction)
        AND (
            arrival_edges.class_of_service IS NULL
            OR day_cells.class_of_service = arrival_edges.class_of_service
        )
    -- The grouping is by number, because the names of the columns are those of day_cells, too.
    GROUP BY 1, 2, 3, 4
)

SELECT
    groups.archive,
    groups.interface,
    groups.direction,

    CASE WHEN groups.first_on < (edges.from_at AT TIME ZONE groups.timezone)::date THEN edges.from_at END
        AS from_at,
    CASE WHEN groups.last_on >= edges.to_at AT TIME ZONE groups.timezone THEN edges.to_at END AS to_at
FROM groups
INNER JOIN mart.archives ON groups.archive = archives.archive
CROSS JOIN
    LATERAL (
        VALUES (greatest(arrival_edges.since, archives.retained_since), arrival_edges.until)
    ) AS edges (from_at, to_at)

$function$;
