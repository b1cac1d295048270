CREATE FUNCTION mart.request_quantiles(
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
    direction text,
    quantity text,
    unit text,
    percent integer,
    request_count bigint,
    value double precision
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH runs AS (
    SELECT * FROM mart.simulation_runs
),

requests AS (
    SELECT * FROM mart.requests
),

-- `coalesce` and not `or`: partitions are pruned by times known only at execution (now() - ...) too.
asked_for AS (
    SELECT requests.*
    FROM requests
    LEFT JOIN runs ON requests.archive = runs.archive
    WHERE
        requests.transfer_id IS NOT NULL
        AND requests.is_failed IS NOT TRUE
        AND (
            requests.kind <> 'simulated'
            OR coalesce(requests.submitted_at, requests.started_at, requests.ended_at) >= runs.steady_at
        )
        AND (request_quantiles.archive IS NULL OR requests.archive = request_quantiles.archive)
        AND requests.ended_at >= coalesce(request_quantiles.since, timestamptz '-infinity')
        AND requests.ended_at < coalesce(request_quantiles.until, timestamptz 'infinity')
        AND (request_quantiles.interface IS NULL OR requests.interface = request_quantiles.interface)
        AND (request_quantiles.direction IS NULL OR requests.direction = request_quantiles.direction)
        AND (request_quantiles.client IS NULL OR requests.client = request_quantiles.client)
        AND (
            request_quantiles.class_of_service IS NULL
            OR requests.class_of_service = request_quantiles.class_of_service
        )
),

quantiles AS (
    SELECT
        asked_for.archive,
        asked_for.kind,
        asked_for.direction,
        observation.quantity,
        observation.unit,
        count(*) AS request_count,
        -- What was logged, and nothing between two: as mart.compared_quantiles has it.
        percentile_disc(
            ARRAY[0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99]
        ) WITHIN GROUP (ORDER BY observation.value) AS quantile_values
    FROM asked_for
    CROSS JOIN
        LATERAL (
            VALUES
            ('size', 'bytes', asked_for.size_bytes::double precision),
            ('transfer time', 's', asked_for.duration_s),
            ('wait', 's', asked_for.waited_s)
        ) AS observation (quantity, unit, value)
    WHERE observation.value IS NOT NULL
    GROUP BY
        asked_for.archive,
        asked_for.kind,
        asked_for.direction,
        observation.quantity,
        observation.unit
)

SELECT
    quantiles.archive,
    quantiles.kind,
    quantiles.direction,
    quantiles.quantity,
    quantiles.unit,
    points.percent,

    quantiles.request_count,
    points.value
FROM quantiles
CROSS JOIN
    LATERAL unnest(
        ARRAY[1, 5, 10, 25, 50, 75, 90, 95, 99], quantiles.quantile_values
    ) AS points (percent, value)

$function$;
