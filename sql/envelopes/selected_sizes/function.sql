CREATE FUNCTION mart.selected_sizes(
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
    size_bins smallint[],
    size_bytes numeric[],
    shortest_s double precision[],
    time_size_bins smallint[],
    time_bins smallint[],
    time_counts integer[],
    duration_s double precision,
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
            archive => selected_sizes.archive,
            since => selected_sizes.since,
            until => selected_sizes.until
        ) AS selected
)

-- Cells of all clients, cells of one client, or the facts of a client without cells: only what is needed is
-- read, and it is known what that is before anything is.
SELECT
    size_cells.archive,
    size_cells.kind,
    size_cells.interface,
    size_cells.direction,
    size_cells.size_bins,
    size_cells.size_bytes,
    size_cells.shortest_s,
    size_cells.time_size_bins,
    size_cells.time_bins,
    size_cells.time_counts,
    size_cells.duration_s,
    size_cells.first_on,
    size_cells.last_on
FROM spans
CROSS JOIN
    -- Not merged with the rest (OFFSET 0): the planner would read all cells, and add all counts that are left
    -- out of them.
    LATERAL (
        SELECT cells.*
        FROM mart.size_cells AS cells
        WHERE
            cells.archive = spans.archive
            AND cells.span = spans.span
            AND cells.starts_on >= spans.since_at
            AND cells.starts_on < spans.until_at
            AND (cells.starts_on >= spans.longer_since_at AND cells.starts_on < spans.longer_until_at)
            IS NOT TRUE
            AND (selected_sizes.interface IS NULL OR cells.interface = selected_sizes.interface)
            AND (selected_sizes.direction IS NULL OR cells.direction = selected_sizes.direction)
            AND (
                selected_sizes.class_of_service IS NULL
                OR cells.class_of_service = selected_sizes.class_of_service
            )
        OFFSET 0  -- noqa: AM09
    ) AS size_cells
WHERE selected_sizes.client IS NULL AND selected_sizes.is_exact IS NOT TRUE

UNION ALL

SELECT
    client_cells.archive,
    client_cells.kind,
    client_cells.interface,
    client_cells.direction,
    client_cells.size_bins,
    client_cells.size_bytes,
    client_cells.shortest_s,
    client_cells.time_size_bins,
    client_cells.time_bins,
    client_cells.time_counts,
    client_cells.duration_s,
    client_cells.first_on,
    client_cells.last_on
FROM spans
CROSS JOIN
    LATERAL (
        SELECT cells.*
        FROM mart.client_size_cells AS cells
        WHERE
            cells.client = selected_sizes.client
            AND cells.archive = spans.archive
            AND cells.span = spans.span
            AND cells.starts_on >= spans.since_at
            AND cells.starts_on < spans.until_at
            AND (cells.starts_on >= spans.longer_since_at AND cells.starts_on < spans.longer_until_at)
            IS NOT TRUE
            AND (selected_sizes.interface IS NULL OR cells.interface = selected_sizes.interface)
            AND (selected_sizes.direction IS NULL OR cells.direction = selected_sizes.direction)
            AND (
                selected_sizes.class_of_service IS NULL
                OR cells.class_of_service = selected_sizes.class_of_service
            )
        OFFSET 0  -- noqa: AM09
    ) AS client_cells
WHERE selected_sizes.is_exact IS NOT TRUE

UNION ALL

-- A transfer is a cell of its own: whoever reads cells adds them up.
SELECT
    transfers.archive,
    transfers.kind,
    transfers.interface,
    transfers.direction,
    ARRAY[mart.size_bin(transfers.size_bytes)::smallint] AS size_bins,
    ARRAY[transfers.size_bytes::numeric] AS size_bytes,
    ARRAY[transfers.duration_s] AS shortest_s,
    ARRAY[mart.size_bin(transfers.size_bytes)::smallint] AS time_size_bins,
    ARRAY[mart.histogram_bin(transfers.duration_s)] AS time_bins,
    ARRAY[1] AS time_counts,
    transfers.duration_s,
    found.ended_on AS first_on,
    found.ended_on AS last_on
FROM
    -- Two days are more than the longest local day.
    mart.envelope_transfers(
        archive => selected_sizes.archive,
        since => selected_sizes.since - interval '2 days',
        until => selected_sizes.until + interval '2 days',
        interface => selected_sizes.interface,
        direction => selected_sizes.direction,
        client => selected_sizes.client,
        class_of_service => selected_sizes.class_of_service
    ) AS transfers
INNER JOIN mart.archives ON transfers.archive = archives.archive
INNER JOIN spans ON transfers.archive = spans.archive AND spans.span = 'day'
CROSS JOIN
    LATERAL (VALUES ((transfers.ended_at AT TIME ZONE archives.timezone)::date)) AS found (ended_on)
WHERE
    (selected_sizes.client IS NOT NULL OR selected_sizes.is_exact)
    -- If all archives have cells of single clients, no month of the facts is read.
    AND (
        selected_sizes.is_exact
        OR EXISTS (
            SELECT FROM mart.archives AS uncounted
            WHERE
                NOT uncounted.has_client_cells
                AND (selected_sizes.archive IS NULL OR uncounted.archive = selected_sizes.archive)
        )
    )
    AND (selected_sizes.is_exact OR NOT archives.has_client_cells)
    AND NOT transfers.is_filtered
    AND found.ended_on >= spans.since_at
    AND found.ended_on < spans.until_at

$function$;
