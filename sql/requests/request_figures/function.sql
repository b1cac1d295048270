CREATE FUNCTION mart.request_figures(
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
    quantity text,
    request_count bigint,
    unknown_count bigint,
    negative_count bigint,
    mean_s double precision,
    deviation_s double precision,
    min_s double precision,
    p1_s double precision,
    p5_s double precision,
    p10_s double precision,
    p50_s double precision,
    p90_s double precision,
    p95_s double precision,
    p99_s double precision,
    max_s double precision
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- The requests of mart.request_quantiles. A total is below 0 if the clocks of two lines disagree.
WITH measured AS (
    SELECT
        requests.archive,
        requests.kind,
        requests.interface,
        requests.direction,
        quantities.quantity,
        CASE WHEN quantities.value_s >= 0 THEN quantities.value_s END AS value_s,
        coalesce(quantities.value_s < 0, FALSE) AS is_negative
    FROM
        mart.selected_requests(
            archive => request_figures.archive,
            since => request_figures.since,
            until => request_figures.until,
            interface => request_figures.interface,
            direction => request_figures.direction,
            client => request_figures.client,
            class_of_service => request_figures.class_of_service
        ) AS requests
    CROSS JOIN
        LATERAL (
            VALUES
            ('transfer time', requests.duration_s),
            ('stage time', requests.stage_s),
            (
                'total time',
                extract(EPOCH FROM requests.ended_at - requests.submitted_at)::double precision
            )
        ) AS quantities (quantity, value_s)
    WHERE
        requests.transfer_id IS NOT NULL
        AND requests.is_failed IS NOT TRUE
        AND NOT requests.is_warm_up
        -- Requests that found their file on disk have no stage.
        AND (quantities.quantity <> 'stage time' OR requests.stage_id IS NOT NULL)
),

figures AS (
    SELECT
        measured.archive,
        measured.kind,
        measured.interface,
        measured.direction,
        measured.quantity,
        count(measured.value_s) AS request_count,
        count(*) AS all_count,
        count(*) FILTER (WHERE measured.is_negative) AS negative_count,
        -- As numbers, sums do not depend on the order of rows.
        avg(measured.value_s::numeric)::double precision AS mean_s,
        stddev_samp(measured.value_s::numeric)::double precision AS deviation_s,
        percentile_disc(ARRAY[0, 0.01, 0.05, 0.1, 0.5, 0.9, 0.95, 0.99, 1])
        WITHIN GROUP (ORDER BY measured.value_s) AS values_s
    FROM measured
    GROUP BY
        measured.quantity, measured.interface, measured.direction, measured.archive, measured.kind
)

SELECT
    figures.archive,
    figures.kind,
    figures.interface,
    figures.direction,
    figures.quantity,

    figures.request_count,
    figures.all_count - figures.request_count - figures.negative_count AS unknown_count,
    figures.negative_count,
    figures.mean_s,
    figures.deviation_s,
    figures.values_s[1] AS min_s,
    figures.values_s[2] AS p1_s,
    figures.values_s[3] AS p5_s,
    figures.values_s[4] AS p10_s,
    figures.values_s[5] AS p50_s,
    figures.values_s[6] AS p90_s,
    figures.values_s[7] AS p95_s,
    figures.values_s[8] AS p99_s,
    figures.values_s[9] AS max_s
FROM figures

$function$;
