CREATE FUNCTION mart.selected_stages(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    source text,
    interface text,
    class_of_service text,
    untimed_count bigint,
    untimed_failed_count bigint,
    time_bins integer[],
    stage_counts bigint[],
    failed_counts bigint[],
    is_failure_logged boolean
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH spans AS MATERIALIZED (
    SELECT selected.*
    FROM
        mart.selected_spans(
            archive => selected_stages.archive,
            since => selected_stages.since,
            until => selected_stages.until
        ) AS selected
),

-- A log of stages does not name clients. A request ends within a day of its stage; the margin also allows for
-- differing clocks, and for two days that are longer than any local day.
of_client AS (
    SELECT requests.stage_id
    FROM
        mart.selected_requests(
            archive => selected_stages.archive,
            since => selected_stages.since - interval '3 days',
            until => selected_stages.until + interval '4 days',
            client => selected_stages.client
        ) AS requests
    WHERE selected_stages.client IS NOT NULL AND requests.stage_id IS NOT NULL
)

-- Only one of the two parts is read, and it is known which one before either is.
SELECT
    stage_cells.archive,
    stage_cells.kind,
    stage_cells.source,
    stage_cells.interface,
    stage_cells.class_of_service,
    stage_cells.untimed_count,
    stage_cells.untimed_failed_count,
    stage_cells.time_bins,
    stage_cells.stage_counts,
    stage_cells.failed_counts,
    stage_cells.is_failure_logged
FROM mart.stage_cells
INNER JOIN spans ON stage_cells.archive = spans.archive AND stage_cells.span = spans.span
WHERE
    selected_stages.client IS NULL
    AND stage_cells.starts_on >= spans.since_at
    AND stage_cells.starts_on < spans.until_at
    AND (stage_cells.starts_on >= spans.longer_since_at AND stage_cells.starts_on < spans.longer_until_at)
    IS NOT TRUE
    AND (selected_stages.interface IS NULL OR stage_cells.interface = selected_stages.interface)
    AND coalesce(selected_stages.direction, 'get') = 'get'
    AND (
        selected_stages.class_of_service IS NULL
        OR stage_cells.class_of_service = selected_stages.class_of_service
    )

UNION ALL

-- A stage is a cell of its own: whoever reads cells adds them up.
SELECT
    stages.archive,
    stages.kind,
    stages.source,
    stages.interface,
    stages.class_of_service,
    (stages.duration_s IS NULL AND NOT stages.is_failed)::integer::bigint AS untimed_count,
    (stages.duration_s IS NULL AND stages.is_failed)::integer::bigint AS untimed_failed_count,
    CASE
        WHEN stages.duration_s IS NULL THEN '{}'
        ELSE ARRAY[mart.time_bin(stages.duration_s)]
    END AS time_bins,
    CASE
        WHEN stages.duration_s IS NULL THEN '{}'
        ELSE ARRAY[(NOT stages.is_failed)::integer::bigint]
    END AS stage_counts,
    CASE
        WHEN stages.duration_s IS NULL THEN '{}'
        ELSE ARRAY[stages.is_failed::integer::bigint]
    END AS failed_counts,
    stages.is_failure_logged
FROM mart.stages
-- Not `spans`, whose rows the planner cannot estimate.
INNER JOIN mart.archives ON stages.archive = archives.archive
WHERE
    selected_stages.client IS NOT NULL
    AND (selected_stages.archive IS NULL OR stages.archive = selected_stages.archive)
    AND coalesce(selected_stages.since, timestamptz '-infinity')
    < coalesce(selected_stages.until, timestamptz 'infinity')
    -- Unlike `or`, `coalesce` also prunes partitions by times that are known only at execution. Two days are
    -- more than the longest local day.
    AND stages.staged_at >= coalesce(selected_stages.since, timestamptz '-infinity') - interval '2 days'
    AND stages.staged_at < coalesce(selected_stages.until, timestamptz 'infinity') + interval '2 days'
    -- A zone costs more than all else, so it is left out where there is nothing to compare.
    AND (
        selected_stages.since IS NULL
        OR (stages.staged_at AT TIME ZONE archives.timezone)::date
        >= (selected_stages.since AT TIME ZONE archives.timezone)::date
    )
    AND (
        selected_stages.until IS NULL
        OR (stages.staged_at AT TIME ZONE archives.timezone)::date
        < selected_stages.until AT TIME ZONE archives.timezone
    )
    AND (selected_stages.interface IS NULL OR stages.interface = selected_stages.interface)
    AND coalesce(selected_stages.direction, 'get') = 'get'
    AND stages.stage_id IN (SELECT of_client.stage_id FROM of_client)
    AND (
        selected_stages.class_of_service IS NULL OR stages.class_of_service = selected_stages.class_of_service
    )

$function$;
