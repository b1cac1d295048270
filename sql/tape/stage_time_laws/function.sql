CREATE FUNCTION mart.stage_time_laws(
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
    stage_count bigint,
    short_count bigint,
    short_ratio double precision,
    short_s double precision,
    short_mean_s double precision,
    long_s double precision,
    long_mean_s double precision,
    misfit_ratio double precision,
    misfit_at_s double precision
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH times AS (
    SELECT
        cells.archive,
        cells.kind,
        cells.interface,
        mart.time_bin_edge(bins.time_bin) AS stage_s,
        sum(bins.stage_count) AS stage_count
    FROM
        mart.selected_stages(
            archive => stage_time_laws.archive,
            since => stage_time_laws.since,
            until => stage_time_laws.until,
            interface => stage_time_laws.interface,
            direction => stage_time_laws.direction,
            client => stage_time_laws.client,
            class_of_service => stage_time_laws.class_of_service
        ) AS cells
    CROSS JOIN LATERAL unnest(cells.time_bins, cells.stage_counts) AS bins (time_bin, stage_count)
    WHERE bins.stage_count > 0
    GROUP BY bins.time_bin, cells.archive, cells.kind, cells.interface
),

-- Each time may be the break: there are shorter times, and the others, it included.
counted AS MATERIALIZED (
    SELECT
        times.archive,
        times.kind,
        times.interface,
        times.stage_s,
        times.stage_count,
        (sum(times.stage_count) OVER everything)::double precision AS all_count,
        (sum(times.stage_count) OVER upto - times.stage_count)::double precision AS short_count,
        sum(times.stage_count * times.stage_s) OVER everything AS all_s,
        sum(times.stage_count * times.stage_s) OVER upto - times.stage_count * times.stage_s AS short_sum_s,
        min(times.stage_s) OVER everything AS least_s
    FROM times
    WINDOW
        everything AS (PARTITION BY times.archive, times.interface),
        upto AS (everything ORDER BY times.stage_s)
),

-- Both parts have a twentieth of the times at least; otherwise, a few times that are alike would be a part.
breaks AS (
    SELECT
        counted.*,
        counted.all_count - counted.short_count AS long_count,
        counted.stage_s - counted.least_s AS length_s,
        counted.short_sum_s / counted.short_count - counted.least_s AS short_above_s,
        (counted.all_s - counted.short_sum_s) / (counted.all_count - counted.short_count) - counted.stage_s
            AS long_mean_s
    FROM counted
    WHERE
        20 * counted.short_count >= counted.all_count
        AND 20 * (counted.all_count - counted.short_count) >= counted.all_count
),

laws AS MATERIALIZED (
    SELECT
        breaks.*,
        breaks.length_s * mart.truncated_mean(breaks.short_above_s / breaks.length_s) AS short_mean_s
    FROM breaks
    WHERE breaks.short_above_s > 0 AND breaks.long_mean_s > 0
),

-- exp() of a number below -745 is an error.
parts AS (
    SELECT
        laws.*,
        1 - exp(greatest(-laws.length_s / laws.short_mean_s, -700)) AS untruncated_ratio
    FROM laws
    WHERE laws.short_mean_s IS NOT NULL
),

-- The break of greatest likelihood.
chosen AS MATERIALIZED (
    SELECT DISTINCT ON (parts.archive, parts.interface) parts.*
    FROM parts
    ORDER BY
        parts.archive ASC,
        parts.interface ASC,
        parts.short_count * (
            ln(parts.short_count / (parts.short_mean_s * parts.untruncated_ratio))
            - parts.short_above_s / parts.short_mean_s
        ) + parts.long_count * (ln(parts.long_count / parts.long_mean_s) - 1) DESC,
        parts.stage_s ASC
),

-- The share of times that the law has up to each time, and the shares that are below it and up to it.
shares AS (
    SELECT
        chosen.*,
        counted.stage_s AS at_s,
        counted.short_count / counted.all_count AS below_ratio,
        (counted.short_count + counted.stage_count) / counted.all_count AS upto_ratio,
        CASE
            WHEN counted.stage_s < chosen.stage_s
                THEN
                    chosen.short_count / chosen.all_count / chosen.untruncated_ratio
                    * (1 - exp(greatest((counted.least_s - counted.stage_s) / chosen.short_mean_s, -700)))
            ELSE
                1 - chosen.long_count / chosen.all_count
                * exp(greatest((chosen.stage_s - counted.stage_s) / chosen.long_mean_s, -700))
        END AS law_ratio
    FROM chosen
    INNER JOIN counted ON chosen.archive = counted.archive AND chosen.interface = counted.interface
),

misfits AS (
    SELECT
        shares.*,
        greatest(shares.upto_ratio - shares.law_ratio, shares.law_ratio - shares.below_ratio) AS misfit_ratio
    FROM shares
)

SELECT DISTINCT ON (misfits.archive, misfits.interface)
    misfits.archive,
    misfits.kind,
    misfits.interface,

    misfits.all_count::bigint AS stage_count,
    misfits.short_count::bigint AS short_count,
    misfits.short_count / misfits.all_count AS short_ratio,
    misfits.least_s AS short_s,
    misfits.short_mean_s,
    misfits.stage_s AS long_s,
    misfits.long_mean_s,
    misfits.misfit_ratio,
    misfits.at_s AS misfit_at_s
FROM misfits
ORDER BY misfits.archive ASC, misfits.interface ASC, misfits.misfit_ratio DESC, misfits.at_s ASC

$function$;
