CREATE FUNCTION mart.selected_request_days(
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
    timezone text,
    source text,
    interface text,
    direction text,
    class_of_service text,
    request_count bigint,
    below_clock_count bigint,
    negative_count bigint,
    size_bins smallint[],
    size_counts integer[],
    duration_bins smallint[],
    duration_counts integer[],
    wait_bins smallint[],
    wait_counts integer[],
    size_bytes double precision,
    duration_s double precision,
    waited_s double precision,
    first_on date,
    last_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- The row of days has the whole range.
WITH spans AS MATERIALIZED (
    SELECT selected.*
    FROM
        mart.selected_spans(
            archive => selected_request_days.archive,
            since => selected_request_days.since,
            until => selected_request_days.until
        ) AS selected
)

-- Cells of all clients, cells of one client, or the facts of a client without cells: only what is needed is
-- read, and it is known what that is before anything is.
SELECT
    request_cells.archive,
    request_cells.kind,
    request_cells.timezone,
    request_cells.source,
    request_cells.interface,
    request_cells.direction,
    request_cells.class_of_service,
    request_cells.request_count,
    request_cells.below_clock_count,
    request_cells.negative_count,
    request_cells.size_bins,
    request_cells.size_counts,
    request_cells.duration_bins,
    request_cells.duration_counts,
    request_cells.wait_bins,
    request_cells.wait_counts,
    request_cells.size_bytes,
    request_cells.duration_s,
    request_cells.waited_s,
    request_cells.first_on,
    request_cells.last_on
FROM spans
CROSS JOIN
    -- Not merged with the rest (OFFSET 0): the planner would expect to find most cells, and read all of them.
    LATERAL (
        SELECT cells.*
        FROM mart.request_cells AS cells
        WHERE
            cells.archive = spans.archive
            AND cells.span = spans.span
            AND cells.starts_on >= spans.since_at
            AND cells.starts_on < spans.until_at
            AND (cells.starts_on >= spans.longer_since_at AND cells.starts_on < spans.longer_until_at)
            IS NOT TRUE
            AND (selected_request_days.interface IS NULL OR cells.interface = selected_request_days.interface)
            AND (selected_request_days.direction IS NULL OR cells.direction = selected_request_days.direction)
            AND (
                selected_request_days.class_of_service IS NULL
                OR cells.class_of_service = selected_request_days.class_of_service
            )
        OFFSET 0  -- noqa: AM09
    ) AS request_cells
WHERE selected_request_days.client IS NULL AND selected_request_days.is_exact IS NOT TRUE

UNION ALL

SELECT
    client_cells.archive,
    client_cells.kind,
    client_cells.timezone,
    client_cells.source,
    client_cells.interface,
    client_cells.direction,
    client_cells.class_of_service,
    client_cells.request_count,
    client_cells.below_clock_count,
    client_cells.negative_count,
    client_cells.size_bins,
    client_cells.size_counts,
    client_cells.duration_bins,
    client_cells.duration_counts,
    client_cells.wait_bins,
    client_cells.wait_counts,
    client_cells.size_bytes,
    client_cells.duration_s,
    client_cells.waited_s,
    client_cells.first_on,
    client_cells.last_on
FROM spans
CROSS JOIN
    LATERAL (
        SELECT cells.*
        FROM mart.client_request_cells AS cells
        WHERE
            cells.client = selected_request_days.client
            AND cells.archive = spans.archive
            AND cells.span = spans.span
            AND cells.starts_on >= spans.since_at
            AND cells.starts_on < spans.until_at
            AND (cells.starts_on >= spans.longer_since_at AND cells.starts_on < spans.longer_until_at)
            IS NOT TRUE
            AND (selected_request_days.interface IS NULL OR cells.interface = selected_request_days.interface)
            AND (selected_request_days.direction IS NULL OR cells.direction = selected_request_days.direction)
            AND (
                selected_request_days.class_of_service IS NULL
                OR cells.class_of_service = selected_request_days.class_of_service
            )
        OFFSET 0  -- noqa: AM09
    ) AS client_cells
WHERE selected_request_days.is_exact IS NOT TRUE

UNION ALL

-- A request is a cell of its own: whoever reads cells adds them up.
SELECT
    requests.archive,
    requests.kind,
    requests.timezone,
    requests.source,
    requests.interface,
    requests.direction,
    requests.class_of_service,
    1::bigint AS request_count,
    requests.is_wait_below_clock::integer::bigint AS below_clock_count,
    requests.is_wait_negative::integer::bigint AS negative_count,
    CASE
        WHEN requests.size_bytes IS NULL THEN '{}' ELSE ARRAY[mart.histogram_bin(requests.size_bytes)]
    END AS size_bins,
    CASE WHEN requests.size_bytes IS NULL THEN '{}' ELSE ARRAY[1] END AS size_counts,
    CASE
        WHEN requests.duration_s IS NULL THEN '{}' ELSE ARRAY[mart.histogram_bin(requests.duration_s)]
    END AS duration_bins,
    CASE WHEN requests.duration_s IS NULL THEN '{}' ELSE ARRAY[1] END AS duration_counts,
    CASE
        WHEN requests.waited_s IS NULL THEN '{}' ELSE ARRAY[mart.histogram_bin(requests.waited_s)]
    END AS wait_bins,
    CASE WHEN requests.waited_s IS NULL THEN '{}' ELSE ARRAY[1] END AS wait_counts,
    requests.size_bytes::double precision AS size_bytes,
    requests.duration_s,
    requests.waited_s,
    (requests.ended_at AT TIME ZONE requests.timezone)::date AS first_on,
    (requests.ended_at AT TIME ZONE requests.timezone)::date AS last_on
FROM
    -- Two days are more than the longest local day.
    mart.selected_requests(
        archive => selected_request_days.archive,
        since => selected_request_days.since - interval '2 days',
        until => selected_request_days.until + interval '2 days',
        interface => selected_request_days.interface,
        direction => selected_request_days.direction,
        client => selected_request_days.client,
        class_of_service => selected_request_days.class_of_service
    ) AS requests
INNER JOIN mart.archives ON requests.archive = archives.archive
WHERE
    (selected_request_days.client IS NOT NULL OR selected_request_days.is_exact)
    -- If all archives have cells of single clients, no month of the facts is read.
    AND (
        selected_request_days.is_exact
        OR EXISTS (
            SELECT FROM mart.archives AS uncounted
            WHERE
                NOT uncounted.has_client_cells
                AND (
                    selected_request_days.archive IS NULL
                    OR uncounted.archive = selected_request_days.archive
                )
        )
    )
    AND (selected_request_days.is_exact OR NOT archives.has_client_cells)
    AND coalesce(selected_request_days.since, timestamptz '-infinity')
    < coalesce(selected_request_days.until, timestamptz 'infinity')
    -- A zone costs more than all else, so it is left out where there is nothing to compare.
    AND (
        selected_request_days.since IS NULL
        OR (requests.ended_at AT TIME ZONE requests.timezone)::date
        >= (selected_request_days.since AT TIME ZONE requests.timezone)::date
    )
    AND (
        selected_request_days.until IS NULL
        OR (requests.ended_at AT TIME ZONE requests.timezone)::date
        < selected_request_days.until AT TIME ZONE requests.timezone
    )
    AND requests.transfer_id IS NOT NULL
    AND requests.is_failed IS NOT TRUE
    AND NOT requests.is_warm_up

$function$;
