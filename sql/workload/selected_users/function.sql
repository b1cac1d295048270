CREATE FUNCTION mart.selected_users(
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
    interface text,
    direction text,
    user_ids integer[],
    request_counts integer[],
    size_bytes numeric[]
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- The row of days has the whole range.
WITH spans AS MATERIALIZED (
    SELECT selected.*
    FROM
        mart.selected_spans(
            archive => selected_users.archive,
            since => selected_users.since,
            until => selected_users.until
        ) AS selected
),

-- The requests are counted only for a client of which there are no cells.
of_client AS (
    SELECT
        requests.archive,
        requests.kind,
        requests.interface,
        requests.direction,
        requests.user_id,
        count(*)::integer AS request_count,
        coalesce(sum(requests.size_bytes), 0) AS size_bytes
    FROM
        -- Two days are more than the longest local day.
        mart.selected_requests(
            archive => selected_users.archive,
            since => selected_users.since - interval '2 days',
            until => selected_users.until + interval '2 days',
            interface => selected_users.interface,
            direction => selected_users.direction,
            client => selected_users.client,
            class_of_service => selected_users.class_of_service
        ) AS requests
    INNER JOIN mart.archives ON requests.archive = archives.archive
    INNER JOIN spans ON requests.archive = spans.archive AND spans.span = 'day'
    WHERE
        selected_users.client IS NOT NULL
        -- If all archives have cells of single clients, no month of the facts is read.
        AND EXISTS (
            SELECT FROM mart.archives AS uncounted
            WHERE
                NOT uncounted.has_client_cells
                AND (selected_users.archive IS NULL OR uncounted.archive = selected_users.archive)
        )
        AND NOT archives.has_client_cells
        AND requests.transfer_id IS NOT NULL
        AND requests.is_failed IS NOT TRUE
        AND requests.user_id IS NOT NULL
        -- A zone costs more than all else, so it is left out where there is nothing to compare.
        AND (
            selected_users.since IS NULL
            OR requests.ended_at AT TIME ZONE requests.timezone >= spans.since_at
        )
        AND (
            selected_users.until IS NULL
            OR (requests.ended_at AT TIME ZONE requests.timezone)::date < spans.until_at
        )
    GROUP BY
        requests.archive,
        requests.kind,
        requests.interface,
        requests.direction,
        requests.user_id
)

-- Cells of all clients, cells of one client, or the facts of a client without cells: only what is needed is
-- read, and it is known what that is before anything is.
SELECT
    user_cells.archive,
    user_cells.kind,
    user_cells.interface,
    user_cells.direction,
    user_cells.user_ids,
    user_cells.request_counts,
    user_cells.size_bytes
FROM spans
CROSS JOIN
    -- Not merged with the rest (OFFSET 0): the planner would read all cells, and add all counts that are left
    -- out of them.
    LATERAL (
        SELECT cells.*
        FROM mart.user_cells AS cells
        WHERE
            cells.archive = spans.archive
            AND cells.span = spans.span
            AND cells.starts_on >= spans.since_at
            AND cells.starts_on < spans.until_at
            AND (cells.starts_on >= spans.longer_since_at AND cells.starts_on < spans.longer_until_at)
            IS NOT TRUE
            AND (selected_users.interface IS NULL OR cells.interface = selected_users.interface)
            AND (selected_users.direction IS NULL OR cells.direction = selected_users.direction)
            AND (
                selected_users.class_of_service IS NULL
                OR cells.class_of_service = selected_users.class_of_service
            )
        OFFSET 0  -- noqa: AM09
    ) AS user_cells
WHERE selected_users.client IS NULL

UNION ALL

SELECT
    client_cells.archive,
    client_cells.kind,
    client_cells.interface,
    client_cells.direction,
    client_cells.user_ids,
    client_cells.request_counts,
    client_cells.size_bytes
FROM spans
CROSS JOIN
    LATERAL (
        SELECT cells.*
        FROM mart.client_user_cells AS cells
        WHERE
            cells.client = selected_users.client
            AND cells.archive = spans.archive
            AND cells.span = spans.span
            AND cells.starts_on >= spans.since_at
            AND cells.starts_on < spans.until_at
            AND (cells.starts_on >= spans.longer_since_at AND cells.starts_on < spans.longer_until_at)
            IS NOT TRUE
            AND (selected_users.interface IS NULL OR cells.interface = selected_users.interface)
            AND (selected_users.direction IS NULL OR cells.direction = selected_users.direction)
            AND (
                selected_users.class_of_service IS NULL
                OR cells.class_of_service = selected_users.class_of_service
            )
        OFFSET 0  -- noqa: AM09
    ) AS client_cells

UNION ALL

SELECT
    of_client.archive,
    of_client.kind,
    of_client.interface,
    of_client.direction,
    array_agg(of_client.user_id ORDER BY of_client.user_id) AS user_ids,
    array_agg(of_client.request_count ORDER BY of_client.user_id) AS request_counts,
    array_agg(of_client.size_bytes ORDER BY of_client.user_id) AS size_bytes
FROM of_client
GROUP BY of_client.archive, of_client.kind, of_client.interface, of_client.direction

$function$;
