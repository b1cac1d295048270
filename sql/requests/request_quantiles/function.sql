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
    value double precision,
    clock_step_s double precision,
    below_clock_count bigint,
    negative_count bigint,
    zero_count bigint
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH requests AS (
    SELECT selected.*
    FROM
        mart.selected_requests(
            archive => request_quantiles.archive,
            since => request_quantiles.since,
            until => request_quantiles.until,
            interface => request_quantiles.interface,
            direction => request_quantiles.direction,
            client => request_quantiles.client,
            class_of_service => request_quantiles.class_of_service
        ) AS selected
),

asked_for AS (
    SELECT requests.*
    FROM requests
    WHERE
        requests.transfer_id IS NOT NULL
        AND requests.is_failed IS NOT TRUE
        AND NOT requests.is_warm_up
),

-- Logged values, without interpolation, as in mart.compared_quantiles. One list per quantity, because a
-- single list would have to be sorted by the quantities' names. Unknown values are not included.
summaries AS (
    SELECT
        asked_for.archive,
        asked_for.kind,
        asked_for.direction,
        count(asked_for.size_bytes) AS size_count,
        count(asked_for.duration_s) AS duration_count,
        count(asked_for.waited_s) AS waited_count,
        max(asked_for.clock_step_s) FILTER (WHERE asked_for.is_wait_below_clock) AS clock_step_s,
        count(*) FILTER (WHERE asked_for.is_wait_below_clock) AS below_clock_count,
        count(*) FILTER (WHERE asked_for.is_wait_negative) AS negative_count,
        count(*) FILTER (WHERE asked_for.size_bytes = 0) AS zero_size_count,
        count(*) FILTER (WHERE asked_for.duration_s = 0) AS zero_duration_count,
        count(*) FILTER (WHERE asked_for.waited_s = 0) AS zero_wait_count,
        percentile_disc(
            ARRAY[0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99]
        ) WITHIN GROUP (ORDER BY asked_for.size_bytes) AS sizes_bytes,
        percentile_disc(
            ARRAY[0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99]
        ) WITHIN GROUP (ORDER BY asked_for.duration_s) AS durations_s,
        percentile_disc(
            ARRAY[0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99]
        ) WITHIN GROUP (ORDER BY asked_for.waited_s) AS waits_s
    FROM asked_for
    GROUP BY asked_for.direction, asked_for.archive, asked_for.kind
)

SELECT
    summaries.archive,
    summaries.kind,
    summaries.direction,
    quantities.quantity,
    quantities.unit,
    points.percent,

    quantities.request_count,
    points.value,
    quantities.clock_step_s,
    quantities.below_clock_count,
    quantities.negative_count,
    quantities.zero_count
FROM summaries
CROSS JOIN
    LATERAL (
        VALUES
        (
            'size', 'bytes', summaries.size_count, summaries.sizes_bytes::double precision[],
            NULL::double precision, NULL::bigint, NULL::bigint, summaries.zero_size_count
        ),
        (
            'transfer time', 's', summaries.duration_count, summaries.durations_s,
            NULL, NULL, NULL, summaries.zero_duration_count
        ),
        (
            'wait', 's', summaries.waited_count, summaries.waits_s,
            summaries.clock_step_s, summaries.below_clock_count, summaries.negative_count,
            summaries.zero_wait_count
        )
    ) AS quantities (
        quantity, unit, request_count, quantile_values,
        clock_step_s, below_clock_count, negative_count, zero_count
    )
CROSS JOIN
    LATERAL unnest(
        ARRAY[1, 5, 10, 25, 50, 75, 90, 95, 99], quantities.quantile_values
    ) AS points (percent, value)
WHERE quantities.request_count > 0

$function$;
