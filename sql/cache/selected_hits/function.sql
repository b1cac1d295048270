CREATE FUNCTION mart.selected_hits(
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
    direction text,
    class_of_service text,
    size_class text,
    get_count bigint,
    is_cached boolean,
    is_joined boolean,
    is_staging_bypassed boolean,
    is_size_saturated boolean,
    size_bytes numeric,
    starts_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH bypasses AS MATERIALIZED (
    SELECT * FROM mart.bypassed_spans
),

-- The range by the clock of each archive, in whole days, the first day of which the detail is left, and
-- whether cells answer for one client.
ranges AS MATERIALIZED (
    SELECT
        archives.archive,
        (coalesce(selected_hits.since, timestamptz '-infinity') AT TIME ZONE archives.timezone)::date
            AS since_on,
        coalesce(selected_hits.until, timestamptz 'infinity') AT TIME ZONE archives.timezone AS until_local,
        coalesce(
            (archives.retained_since AT TIME ZONE archives.timezone)::date, date '-infinity'
        ) AS retained_on,
        -- Days that a bypass covers in part are not judged by cells.
        archives.has_client_cells
        AND NOT EXISTS (
            SELECT FROM bypasses
            WHERE bypasses.archive = archives.archive AND bypasses.part_days <> '{}'
        ) AS has_client_cells
    FROM mart.archives
    WHERE
        (selected_hits.archive IS NULL OR archives.archive = selected_hits.archive)
        AND coalesce(selected_hits.since, timestamptz '-infinity')
        < coalesce(selected_hits.until, timestamptz 'infinity')
),

-- Days of which requests are read, because a bypass began or ended within them.
days_of_requests AS MATERIALIZED (
    SELECT DISTINCT
        hit_cells.archive,
        hit_cells.timezone,
        hit_cells.starts_on
    FROM bypasses
    INNER JOIN mart.hit_cells
        ON
            bypasses.archive = hit_cells.archive
            AND (bypasses.class_of_service IS NULL OR bypasses.class_of_service = hit_cells.class_of_service)
    INNER JOIN ranges ON hit_cells.archive = ranges.archive
    CROSS JOIN
        LATERAL mart.hit_evidence(hit_cells.codes, hit_cells.get_counts, hit_cells.size_bytes) AS evidence
    WHERE
        hit_cells.starts_on >= ranges.since_on
        AND hit_cells.starts_on < ranges.until_local
        AND hit_cells.starts_on >= ranges.retained_on
        AND hit_cells.starts_on - evidence.days_ago <@ bypasses.part_days
),

-- Cells of all clients, or of one client where it has some.
counted AS (
    SELECT hit_cells.*
    FROM mart.hit_cells
    LEFT JOIN days_of_requests
        ON
            hit_cells.archive = days_of_requests.archive
            AND hit_cells.starts_on = days_of_requests.starts_on
    WHERE
        selected_hits.client IS NULL
        AND days_of_requests.archive IS NULL

    UNION ALL

    SELECT
        of_client.archive,
        of_client.kind,
        of_client.timezone,
        of_client.source,
        of_client.interface,
        of_client.direction,
        of_client.class_of_service,
        of_client.has_stages,
        of_client.codes,
        of_client.get_counts,
        of_client.size_bytes,
        of_client.starts_on
    FROM mart.client_hit_cells AS of_client
    INNER JOIN ranges ON of_client.archive = ranges.archive
    WHERE
        of_client.client = selected_hits.client
        AND ranges.has_client_cells
),

cells AS (
    SELECT
        hit_cells.*,
        coalesce(class_bypasses.whole_days, bypasses.whole_days) AS whole_days,
        coalesce(class_bypasses.part_days, bypasses.part_days) AS part_days
    FROM counted AS hit_cells
    LEFT JOIN bypasses
        ON hit_cells.archive = bypasses.archive AND bypasses.class_of_service IS NULL
    LEFT JOIN bypasses AS class_bypasses
        ON
            hit_cells.archive = class_bypasses.archive
            AND hit_cells.class_of_service = class_bypasses.class_of_service
    WHERE
        (selected_hits.archive IS NULL OR hit_cells.archive = selected_hits.archive)
        AND coalesce(selected_hits.since, timestamptz '-infinity')
        < coalesce(selected_hits.until, timestamptz 'infinity')
        -- Without a limit, the planner knows how many cells there are.
        AND (
            selected_hits.since IS NULL
            OR hit_cells.starts_on >= (selected_hits.since AT TIME ZONE hit_cells.timezone)::date
        )
        AND (
            selected_hits.until IS NULL
            OR hit_cells.starts_on < selected_hits.until AT TIME ZONE hit_cells.timezone
        )
        AND (selected_hits.interface IS NULL OR hit_cells.interface = selected_hits.interface)
        AND (selected_hits.direction IS NULL OR hit_cells.direction = selected_hits.direction)
        AND (
            selected_hits.class_of_service IS NULL
            OR hit_cells.class_of_service = selected_hits.class_of_service
        )
),

entries AS (
    SELECT
        cells.archive,
        cells.kind,
        cells.source,
        cells.interface,
        cells.direction,
        cells.class_of_service,
        cells.has_stages,
        cells.starts_on,
        evidence.*,
        CASE
            WHEN cells.starts_on - evidence.days_ago <@ cells.whole_days THEN TRUE
            -- The detail that would show it is forgotten.
            WHEN cells.starts_on - evidence.days_ago <@ cells.part_days THEN NULL
            ELSE FALSE
        END AS is_staging_bypassed
    FROM cells
    CROSS JOIN LATERAL mart.hit_evidence(cells.codes, cells.get_counts, cells.size_bytes) AS evidence
)

-- The order of evidence is that of mart.requests.
SELECT
    entries.archive,
    entries.kind,
    entries.source,
    entries.interface,
    entries.direction,
    entries.class_of_service,
    entries.size_class,
    entries.get_count,
    CASE
        WHEN entries.is_staged THEN FALSE
        WHEN entries.is_logged_as_cached IS NOT NULL THEN entries.is_logged_as_cached
        WHEN entries.is_staging_bypassed IS NOT FALSE THEN NULL
        WHEN entries.has_persona AND entries.has_stages AND NOT entries.is_time_of_day_unknown THEN TRUE
        ELSE entries.open_floor_s < 8
    END AS is_cached,
    entries.is_joined,
    entries.is_staging_bypassed,
    entries.is_size_saturated,
    entries.size_bytes,
    entries.starts_on
FROM entries

UNION ALL

-- A request is an entry of its own: whoever reads entries adds them up.
SELECT
    days_of_requests.archive,
    requests.kind,
    requests.source,
    requests.interface,
    requests.direction,
    requests.class_of_service,
    mart.size_class(requests.size_bytes) AS size_class,
    1::bigint AS get_count,
    requests.is_cached,
    requests.is_joined,
    requests.is_staging_bypassed,
    requests.is_size_saturated,
    coalesce(requests.size_bytes, 0)::numeric AS size_bytes,
    days_of_requests.starts_on
FROM days_of_requests
CROSS JOIN
    LATERAL mart.requests_of_day(
        days_of_requests.archive, days_of_requests.timezone, days_of_requests.starts_on
    ) AS requests
WHERE
    selected_hits.client IS NULL
    AND requests.direction = 'get'
    AND NOT requests.is_failed
    AND NOT requests.is_warm_up
    AND (selected_hits.interface IS NULL OR requests.interface = selected_hits.interface)
    AND (selected_hits.direction IS NULL OR requests.direction = selected_hits.direction)
    AND (
        selected_hits.class_of_service IS NULL OR requests.class_of_service = selected_hits.class_of_service
    )

UNION ALL

SELECT
    requests.archive,
    requests.kind,
    requests.source,
    requests.interface,
    requests.direction,
    requests.class_of_service,
    mart.size_class(requests.size_bytes) AS size_class,
    1::bigint AS get_count,
    requests.is_cached,
    requests.is_joined,
    requests.is_staging_bypassed,
    requests.is_size_saturated,
    coalesce(requests.size_bytes, 0)::numeric AS size_bytes,
    local.ended_on AS starts_on
FROM
    -- Two days are more than the longest local day.
    mart.selected_requests(
        archive => selected_hits.archive,
        since => selected_hits.since - interval '2 days',
        until => selected_hits.until + interval '2 days',
        interface => selected_hits.interface,
        direction => selected_hits.direction,
        client => selected_hits.client,
        class_of_service => selected_hits.class_of_service
    ) AS requests
INNER JOIN ranges ON requests.archive = ranges.archive
CROSS JOIN LATERAL (VALUES ((requests.ended_at AT TIME ZONE requests.timezone)::date)) AS local (ended_on)
WHERE
    selected_hits.client IS NOT NULL
    -- If all archives have cells of single clients, no month of the requests is read.
    AND EXISTS (
        SELECT FROM ranges AS uncounted
        WHERE NOT uncounted.has_client_cells
    )
    AND NOT ranges.has_client_cells
    AND requests.direction = 'get'
    AND NOT requests.is_failed
    AND NOT requests.is_warm_up
    AND local.ended_on >= ranges.since_on
    AND local.ended_on < ranges.until_local

$function$;
