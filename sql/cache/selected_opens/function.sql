CREATE FUNCTION mart.selected_opens(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    is_exact boolean DEFAULT FALSE
) RETURNS TABLE (
    archive text,
    kind text,
    interface text,
    direction text,
    class_of_service text,
    open_from_s double precision,
    open_s double precision,
    request_count bigint,
    open_us numeric,
    is_sized boolean,
    size_bytes bigint,
    is_staging_bypassed boolean
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH bypasses AS MATERIALIZED (
    SELECT * FROM mart.bypassed_spans
),

bypassed AS (
    SELECT DISTINCT bypasses.archive FROM bypasses
),

-- Whether cells answer for one client. Days that a bypass covers in part are not judged by cells.
client_counts AS MATERIALIZED (
    SELECT
        archives.archive,
        archives.has_client_cells
        AND NOT EXISTS (
            SELECT FROM bypasses
            WHERE bypasses.archive = archives.archive AND bypasses.part_days <> '{}'
        ) AS has_client_cells
    FROM mart.archives
    WHERE selected_opens.archive IS NULL OR archives.archive = selected_opens.archive
),

-- Whether staging was bypassed is judged by days. The row of days has the whole range.
spans AS MATERIALIZED (
    SELECT
        selected.archive,
        selected.span,
        selected.since_at,
        selected.until_at,
        CASE WHEN bypassed.archive IS NULL THEN selected.longer_since_at END AS longer_since_at,
        CASE WHEN bypassed.archive IS NULL THEN selected.longer_until_at END AS longer_until_at
    FROM
        mart.selected_spans(
            archive => selected_opens.archive,
            since => selected_opens.since,
            until => selected_opens.until
        ) AS selected
    LEFT JOIN bypassed ON selected.archive = bypassed.archive
    WHERE bypassed.archive IS NULL OR selected.span = 'day'
),

-- Days of which requests are read, because a bypass began or ended within them.
days_of_requests AS MATERIALIZED (
    SELECT DISTINCT
        open_cells.archive,
        open_cells.timezone,
        open_cells.starts_on
    FROM bypasses
    INNER JOIN mart.open_cells
        ON
            bypasses.archive = open_cells.archive
            AND (bypasses.class_of_service IS NULL OR bypasses.class_of_service = open_cells.class_of_service)
    INNER JOIN spans ON open_cells.archive = spans.archive AND open_cells.span = spans.span
    INNER JOIN mart.archives ON open_cells.archive = archives.archive
    CROSS JOIN
        LATERAL mart.open_entries(open_cells.codes, open_cells.request_counts, open_cells.open_us) AS entries
    WHERE
        open_cells.starts_on >= spans.since_at
        AND open_cells.starts_on < spans.until_at
        -- Of earlier days, the detail is forgotten.
        AND open_cells.starts_on
        >= coalesce((archives.retained_since AT TIME ZONE archives.timezone)::date, date '-infinity')
        AND open_cells.starts_on - entries.days_ago <@ bypasses.part_days
),

-- Cells of all clients, or of one client where it has some.
counted AS (
    SELECT open_cells.*
    FROM mart.open_cells
    LEFT JOIN days_of_requests
        ON
            open_cells.archive = days_of_requests.archive
            AND open_cells.starts_on = days_of_requests.starts_on
    WHERE
        selected_opens.client IS NULL
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
        of_client.route_id,
        of_client.span,
        of_client.codes,
        of_client.request_counts,
        of_client.open_us,
        of_client.starts_on
    FROM mart.client_open_cells AS of_client
    INNER JOIN client_counts ON of_client.archive = client_counts.archive
    WHERE
        of_client.client = selected_opens.client
        AND client_counts.has_client_cells
),

cells AS (
    SELECT
        open_cells.*,
        coalesce(class_bypasses.whole_days, bypasses.whole_days) AS whole_days,
        coalesce(class_bypasses.part_days, bypasses.part_days) AS part_days
    FROM counted AS open_cells
    INNER JOIN spans ON open_cells.archive = spans.archive AND open_cells.span = spans.span
    LEFT JOIN bypasses
        ON open_cells.archive = bypasses.archive AND bypasses.class_of_service IS NULL
    LEFT JOIN bypasses AS class_bypasses
        ON
            open_cells.archive = class_bypasses.archive
            AND open_cells.class_of_service = class_bypasses.class_of_service
    WHERE
        selected_opens.is_exact IS NOT TRUE
        AND open_cells.starts_on >= spans.since_at
        AND open_cells.starts_on < spans.until_at
        AND (open_cells.starts_on >= spans.longer_since_at AND open_cells.starts_on < spans.longer_until_at)
        IS NOT TRUE
        AND (selected_opens.interface IS NULL OR open_cells.interface = selected_opens.interface)
        AND (selected_opens.direction IS NULL OR open_cells.direction = selected_opens.direction)
        AND (
            selected_opens.class_of_service IS NULL
            OR open_cells.class_of_service = selected_opens.class_of_service
        )
),

entries AS (
    SELECT
        cells.route_id,
        parts.bin,
        parts.is_sized,
        parts.request_count,
        parts.open_us,
        CASE
            WHEN cells.starts_on - parts.days_ago <@ cells.whole_days THEN TRUE
            -- The detail that would show it is forgotten.
            WHEN cells.starts_on - parts.days_ago <@ cells.part_days THEN NULL
            ELSE FALSE
        END AS is_staging_bypassed
    FROM cells
    CROSS JOIN LATERAL mart.open_entries(cells.codes, cells.request_counts, cells.open_us) AS parts
),

-- Groups are found by numbers, and named afterwards.
sums AS MATERIALIZED (
    SELECT
        entries.route_id,
        entries.bin,
        entries.is_sized,
        entries.is_staging_bypassed,
        sum(entries.request_count)::bigint AS request_count,
        sum(entries.open_us) AS open_us
    FROM entries
    GROUP BY entries.route_id, entries.bin, entries.is_sized, entries.is_staging_bypassed
)

SELECT
    routes.archive,
    routes.kind,
    routes.interface,
    routes.direction,
    routes.class_of_service,
    mart.time_bin_edge(sums.bin) AS open_from_s,
    NULL::double precision AS open_s,
    sums.request_count,
    sums.open_us,
    sums.is_sized,
    NULL::bigint AS size_bytes,
    sums.is_staging_bypassed
FROM sums
INNER JOIN mart.routes ON sums.route_id = routes.route_id

UNION ALL

-- A request is an entry of its own: whoever reads entries adds them up.
SELECT
    days_of_requests.archive,
    requests.kind,
    requests.interface,
    requests.direction,
    requests.class_of_service,
    mart.time_bin_edge(mart.time_bin(requests.open_s)) AS open_from_s,
    requests.open_s,
    1::bigint AS request_count,
    round(requests.open_s * 1e6)::numeric AS open_us,
    requests.size_bytes IS NOT NULL AND NOT requests.is_size_saturated AS is_sized,
    requests.size_bytes,
    requests.is_staging_bypassed
FROM days_of_requests
CROSS JOIN
    LATERAL mart.requests_of_day(
        days_of_requests.archive, days_of_requests.timezone, days_of_requests.starts_on
    ) AS requests
WHERE
    selected_opens.client IS NULL
    AND selected_opens.is_exact IS NOT TRUE
    AND requests.open_s IS NOT NULL
    AND NOT requests.is_failed
    AND (selected_opens.interface IS NULL OR requests.interface = selected_opens.interface)
    AND (selected_opens.direction IS NULL OR requests.direction = selected_opens.direction)
    AND (
        selected_opens.class_of_service IS NULL
        OR requests.class_of_service = selected_opens.class_of_service
    )

UNION ALL

SELECT
    requests.archive,
    requests.kind,
    requests.interface,
    requests.direction,
    requests.class_of_service,
    mart.time_bin_edge(mart.time_bin(requests.open_s)) AS open_from_s,
    requests.open_s,
    1::bigint AS request_count,
    round(requests.open_s * 1e6)::numeric AS open_us,
    requests.size_bytes IS NOT NULL AND NOT requests.is_size_saturated AS is_sized,
    requests.size_bytes,
    requests.is_staging_bypassed
FROM
    -- Two days are more than the longest local day.
    mart.selected_requests(
        archive => selected_opens.archive,
        since => selected_opens.since - interval '2 days',
        until => selected_opens.until + interval '2 days',
        interface => selected_opens.interface,
        direction => selected_opens.direction,
        client => selected_opens.client,
        class_of_service => selected_opens.class_of_service
    ) AS requests
INNER JOIN client_counts ON requests.archive = client_counts.archive
INNER JOIN spans ON requests.archive = spans.archive AND spans.span = 'day'
CROSS JOIN LATERAL (VALUES ((requests.ended_at AT TIME ZONE requests.timezone)::date)) AS local (ended_on)
WHERE
    (selected_opens.client IS NOT NULL OR selected_opens.is_exact)
    -- If all archives have cells of single clients, no month of the requests is read.
    AND (
        selected_opens.is_exact
        OR EXISTS (
            SELECT FROM client_counts AS uncounted
            WHERE NOT uncounted.has_client_cells
        )
    )
    AND (selected_opens.is_exact OR NOT client_counts.has_client_cells)
    AND requests.open_s IS NOT NULL
    AND NOT requests.is_failed
    AND local.ended_on >= spans.since_at
    AND local.ended_on < spans.until_at

$function$;
