CREATE FUNCTION mart.drives_busy(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    location text DEFAULT NULL,
    tape_type text DEFAULT NULL,
    drive text DEFAULT NULL,
    grouped_by text DEFAULT 'all'
) RETURNS TABLE (
    archive text,
    kind text,
    grouped_by text,
    location text,
    tape_type text,
    drive_count bigint,
    busy_count bigint,
    span_s double precision,
    time_ratio double precision
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH coverage AS MATERIALIZED (
    SELECT
        tape_coverage.archive,
        tape_coverage.has_dismounts,
        tape_coverage.first_event_at,
        tape_coverage.last_event_at
    FROM mart.tape_coverage
    WHERE drives_busy.archive IS NULL OR tape_coverage.archive = drives_busy.archive
),

-- Only the column of the grouping that is asked for has values.
mounts AS (
    SELECT
        selected.archive,
        selected.kind,
        CASE WHEN drives_busy.grouped_by = 'location' THEN selected.location END AS location,
        CASE WHEN drives_busy.grouped_by = 'tape_type' THEN selected.tape_type END AS tape_type,
        selected.drive,
        greatest(selected.occupied_from, selected.range_from) AS busy_from,
        least(selected.occupied_until, selected.range_until) AS busy_until,
        -- The time that the log covers.
        greatest(coverage.first_event_at, selected.range_from) AS covered_from,
        least(coverage.last_event_at, selected.range_until) AS covered_until
    FROM
        mart.selected_mounts(
            archive => drives_busy.archive,
            since => drives_busy.since,
            until => drives_busy.until,
            interface => drives_busy.interface,
            location => drives_busy.location,
            tape_type => drives_busy.tape_type,
            drive => drives_busy.drive
        ) AS selected
    INNER JOIN coverage ON selected.archive = coverage.archive
    -- If no log reports dismounts, it is not known how long a drive was busy.
    WHERE coverage.has_dismounts AND drives_busy.grouped_by IN ('all', 'location', 'tape_type')
),

groups AS (
    SELECT
        mounts.archive,
        mounts.kind,
        mounts.location,
        mounts.tape_type,
        count(DISTINCT mounts.drive) AS drive_count,
        min(mounts.covered_from) AS covered_from,
        min(mounts.covered_until) AS covered_until
    FROM mounts
    GROUP BY mounts.archive, mounts.kind, mounts.location, mounts.tape_type
),

changes AS (
    SELECT
        mounts.archive,
        mounts.location,
        mounts.tape_type,
        changes.change,
        changes.changed_at
    FROM mounts
    CROSS JOIN
        LATERAL (VALUES (1, mounts.busy_from), (-1, mounts.busy_until)) AS changes (change, changed_at)
    UNION ALL
    SELECT
        groups.archive,
        groups.location,
        groups.tape_type,
        0 AS change,
        edges.changed_at
    FROM groups
    CROSS JOIN LATERAL (VALUES (groups.covered_from), (groups.covered_until)) AS edges (changed_at)
),

-- Rows of the same time have no time between them, so their order does not matter.
levels AS (
    SELECT
        changes.archive,
        changes.location,
        changes.tape_type,
        sum(changes.change) OVER in_time AS busy_count,
        lead(changes.changed_at) OVER in_time - changes.changed_at AS span
    FROM changes
    WINDOW
        in_time AS (
            PARTITION BY changes.archive, changes.location, changes.tape_type
            ORDER BY changes.changed_at
            ROWS UNBOUNDED PRECEDING
        )
),

spans AS (
    SELECT
        levels.archive,
        levels.location,
        levels.tape_type,
        levels.busy_count,
        date_part('epoch', sum(levels.span)) AS span_s
    FROM levels
    WHERE levels.span > interval '0'
    GROUP BY levels.archive, levels.location, levels.tape_type, levels.busy_count
)

SELECT
    groups.archive,
    groups.kind,
    drives_busy.grouped_by,
    groups.location,
    groups.tape_type,

    groups.drive_count,
    spans.busy_count,
    spans.span_s,
    spans.span_s / date_part('epoch', groups.covered_until - groups.covered_from) AS time_ratio
FROM groups
INNER JOIN spans
    ON
        groups.archive = spans.archive
        AND groups.location IS NOT DISTINCT FROM spans.location
        AND groups.tape_type IS NOT DISTINCT FROM spans.tape_type

$function$;
