CREATE FUNCTION mart.comparison_figures(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    block_s double precision DEFAULT NULL,
    replicate_count integer DEFAULT NULL,
    timezone text DEFAULT NULL,
    asked_from timestamptz DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    direction text,
    quantity text,
    statistic text,
    unit text,
    block_count bigint,
    request_counts bigint[],
    values_drawn double precision[],
    span_began_at timestamptz,
    span_ended_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- One archive after the other, as if each had nothing to be compared with.
WITH archives AS (
    SELECT * FROM mart.archives
),

figures AS (
    SELECT
        archives.archive,
        archives.kind,
        means.*
    FROM archives
    CROSS JOIN
        LATERAL mart.compared_means(
            a => archives.archive,
            since => comparison_figures.since,
            until => comparison_figures.until,
            interface => comparison_figures.interface,
            direction => comparison_figures.direction,
            client => comparison_figures.client,
            class_of_service => comparison_figures.class_of_service,
            block_s => comparison_figures.block_s,
            replicate_count => comparison_figures.replicate_count,
            timezone => comparison_figures.timezone,
            asked_from => comparison_figures.asked_from
        ) AS means
    WHERE comparison_figures.archive IS NULL OR archives.archive = comparison_figures.archive
    UNION ALL
    SELECT
        archives.archive,
        archives.kind,
        quantiles.*
    FROM archives
    CROSS JOIN
        LATERAL mart.compared_quantiles(
            a => archives.archive,
            since => comparison_figures.since,
            until => comparison_figures.until,
            interface => comparison_figures.interface,
            direction => comparison_figures.direction,
            client => comparison_figures.client,
            class_of_service => comparison_figures.class_of_service,
            block_s => comparison_figures.block_s,
            replicate_count => comparison_figures.replicate_count,
            timezone => comparison_figures.timezone,
            asked_from => comparison_figures.asked_from
        ) AS quantiles
    WHERE comparison_figures.archive IS NULL OR archives.archive = comparison_figures.archive
)

SELECT
    figures.archive,
    figures.kind,
    figures.direction,
    figures.quantity,
    figures.statistic,
    figures.unit,

    figures.block_count,
    array_agg(figures.request_count ORDER BY figures.replicate) AS request_counts,
    array_agg(figures.value ORDER BY figures.replicate) AS values_drawn,

    figures.span_began_at,
    figures.span_ended_at
FROM figures
GROUP BY
    figures.archive,
    figures.kind,
    figures.direction,
    figures.quantity,
    figures.statistic,
    figures.unit,
    figures.block_count,
    figures.span_began_at,
    figures.span_ended_at

$function$;
