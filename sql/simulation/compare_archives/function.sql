CREATE FUNCTION mart.compare_archives(
    a text DEFAULT NULL,
    b text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    block_s double precision DEFAULT NULL,
    replicate_count integer DEFAULT NULL,
    b_since timestamptz DEFAULT NULL,
    b_until timestamptz DEFAULT NULL
) RETURNS TABLE (
    a text,
    b text,
    direction text,
    quantity text,
    statistic text,
    unit text,
    a_value double precision,
    b_value double precision,
    difference double precision,
    difference_low double precision,
    difference_high double precision,
    a_count bigint,
    b_count bigint,
    block_count bigint,
    p_value double precision,
    adjusted_p_value double precision,
    is_headline boolean,
    is_different boolean,
    set_apart text,
    a_began_at timestamptz,
    a_ended_at timestamptz,
    b_began_at timestamptz,
    b_ended_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- Both sides are divided into the days of a, and an archive with the same requests as a simulated one is
-- compared with it over the same time. Their own time zones and runs need not be named.
WITH archives AS (
    SELECT * FROM mart.archives
),

runs AS (
    SELECT * FROM mart.simulation_runs
),

sides AS (
    SELECT
        sides.side,
        archives.archive,
        archives.timezone,
        runs.steady_at,
        archives.kind = 'simulated' AND runs.steady_at IS NULL AS is_never_steady
    FROM (VALUES ('a', compare_archives.a), ('b', compare_archives.b)) AS sides (side, archive)
    INNER JOIN archives ON sides.archive = archives.archive
    LEFT JOIN runs ON sides.archive = runs.archive
),

asked AS (
    SELECT
        mine.side,
        mine.archive,
        CASE WHEN mine.side = 'b' THEN nullif(others.timezone, mine.timezone) END AS timezone,
        others.steady_at AS asked_from
    FROM sides AS mine
    INNER JOIN sides AS others ON mine.side <> others.side
    WHERE NOT (mine.is_never_steady OR others.is_never_steady)
),

-- Each side apart, so that its range is known when the query is planned, and other months are left out. If
-- b has a range of its own, the other one is that of a.
own_figures AS MATERIALIZED (
    SELECT
        asked.side,
        own.*
    FROM asked
    CROSS JOIN
        LATERAL mart.comparison_figures(
            archive => asked.archive,
            since => compare_archives.since,
            until => compare_archives.until,
            interface => compare_archives.interface,
            direction => compare_archives.direction,
            client => compare_archives.client,
            class_of_service => compare_archives.class_of_service,
            block_s => compare_archives.block_s,
            replicate_count => compare_archives.replicate_count,
            asked_from => asked.asked_from
        ) AS own
    WHERE asked.side = 'a'
    UNION ALL
    SELECT
        asked.side,
        own.*
    FROM asked
    CROSS JOIN
        LATERAL mart.comparison_figures(
            archive => asked.archive,
            since => coalesce(
                compare_archives.b_since,
                CASE WHEN compare_archives.b_until IS NULL THEN compare_archives.since END
            ),
            until => coalesce(
                compare_archives.b_until,
                CASE WHEN compare_archives.b_since IS NULL THEN compare_archives.until END
            ),
            interface => compare_archives.interface,
            direction => compare_archives.direction,
            client => compare_archives.client,
            class_of_service => compare_archives.class_of_service,
            block_s => compare_archives.block_s,
            replicate_count => compare_archives.replicate_count,
            timezone => asked.timezone,
            asked_from => asked.asked_from
        ) AS own
    WHERE asked.side = 'b'
),

-- A direction that only one side has is shown for both.
directions AS (
    SELECT own_figures.direction
    FROM own_figures
    WHERE own_figures.request_counts[1] > 0
    GROUP BY own_figures.direction
),

figures AS (
    SELECT
        own_figures.side,
        own_figures.direction,
        own_figures.quantity,
        own_figures.statistic,
        own_figures.unit,
        drawn.place - 1 AS replicate,
        drawn.request_count,
        own_figures.block_count,
        drawn.value,
        own_figures.span_began_at,
        own_figures.span_ended_at
    FROM own_figures
    INNER JOIN directions ON own_figures.direction = directions.direction
    CROSS JOIN
        LATERAL unnest(own_figures.request_counts, own_figures.values_drawn)
        WITH ORDINALITY AS drawn (request_count, value, place)
),

-- Paired replicate by replicate, so that variation common to both sides does not count as chance.
paired AS (
    SELECT
        figures.direction,
        figures.quantity,
        figures.statistic,
        figures.unit,
        figures.replicate,
        max(figures.value) FILTER (WHERE figures.side = 'a') AS a_value,
        max(figures.value) FILTER (WHERE figures.side = 'b') AS b_value,
        max(figures.request_count) FILTER (WHERE figures.side = 'a') AS a_count,
        max(figures.request_count) FILTER (WHERE figures.side = 'b') AS b_count,
        max(figures.block_count) FILTER (WHERE figures.side = 'a') AS a_block_count,
        max(figures.block_count) FILTER (WHERE figures.side = 'b') AS b_block_count,
        max(figures.span_began_at) FILTER (WHERE figures.side = 'a') AS a_began_at,
        max(figures.span_ended_at) FILTER (WHERE figures.side = 'a') AS a_ended_at,
        max(figures.span_began_at) FILTER (WHERE figures.side = 'b') AS b_began_at,
        max(figures.span_ended_at) FILTER (WHERE figures.side = 'b') AS b_ended_at
    FROM figures
    GROUP BY figures.direction, figures.quantity, figures.statistic, figures.unit, figures.replicate
),

-- Added in the order of the replicates, because floats give the same sum only in the same order.
spreads AS (
    SELECT
        paired.direction,
        paired.quantity,
        paired.statistic,
        stddev_samp(paired.b_value - paired.a_value ORDER BY paired.replicate) AS spread
    FROM paired
    WHERE paired.replicate > 0
    GROUP BY paired.direction, paired.quantity, paired.statistic
),

-- least and greatest ignore nulls, but a statistic that one side lacks is not compared.
estimates AS (
    SELECT
        paired.*,
        CASE
            WHEN paired.a_count IS NULL THEN 'only in b'
            WHEN paired.b_count IS NULL THEN 'only in a'
            WHEN paired.a_value IS NULL OR paired.b_value IS NULL THEN 'not known'
            WHEN least(paired.a_block_count, paired.b_block_count) < 2 THEN 'one block'
            WHEN
                least(paired.a_count, paired.b_count)
                < CASE paired.statistic WHEN 'p50' THEN 10 WHEN 'p90' THEN 50 WHEN 'p99' THEN 500 ELSE 0 END
                THEN 'too few'
        END AS set_apart,
        least(paired.a_block_count, paired.b_block_count) AS block_count,
        paired.b_value - paired.a_value AS difference,
        -- A floating-point rounding error counts neither as a difference nor as chance.
        greatest(abs(paired.a_value), abs(paired.b_value)) * 1e-9 AS rounding,
        spreads.spread
        * sqrt(
            least(paired.a_block_count, paired.b_block_count)::double precision
            / nullif(least(paired.a_block_count, paired.b_block_count) - 1, 0)
        ) AS standard_error
    FROM paired
    LEFT JOIN spreads
        ON
            paired.direction = spreads.direction
            AND paired.quantity = spreads.quantity
            AND paired.statistic = spreads.statistic
    WHERE paired.replicate = 0
),

-- A few figures say how much there was to do, and how long it took; the others are details.
judged AS (
    SELECT
        estimates.*,
        (
            (
                estimates.direction = 'all'
                AND estimates.statistic IN ('per day', 'mean', 'dispersion', 'geometric mean', 'per block')
            )
            OR estimates.quantity IN (
                'of the busiest user', 'from 8 to 18 h', 'file used the day before', 'found on disk'
            )
        ) AS is_headline,
        greatest(abs(estimates.difference), estimates.standard_error) <= estimates.rounding AS is_same,
        CASE
            WHEN estimates.set_apart IS NOT NULL THEN NULL
            WHEN abs(estimates.difference) <= estimates.rounding THEN 1
            WHEN estimates.standard_error <= estimates.rounding THEN 0
            ELSE
                mart.student_t_tail(
                    estimates.difference / nullif(estimates.standard_error, 0), estimates.block_count - 1
                )
        END AS p_value,
        CASE
            WHEN estimates.set_apart IS NULL
                THEN
                    estimates.standard_error
                    * mart.student_t_quantile(0.975, estimates.block_count - 1)
        END AS margin
    FROM estimates
),

-- Holm's method multiplies the smallest p by the number of figures, the next one by one less, and so on. No
-- result may be below the previous one. The headlines and the details are each tested at half of the level.
-- Figures that are the same on both sides in all replicates cannot be found different, so they do not count.
ranked AS (
    SELECT
        judged.*,
        2 * judged.p_value * greatest(
            count(judged.p_value) FILTER (WHERE NOT judged.is_same) OVER (PARTITION BY judged.is_headline)
            - row_number() OVER by_p
            + 1,
            1
        ) AS raised_p_value
    FROM judged
    WINDOW
        by_p AS (
            PARTITION BY judged.is_headline
            ORDER BY judged.p_value, judged.direction, judged.quantity, judged.statistic
        )
),

adjusted AS (
    SELECT
        ranked.*,
        least(
            max(ranked.raised_p_value) OVER by_p,
            CASE WHEN ranked.p_value IS NOT NULL THEN 1 END
        ) AS adjusted_p_value
    FROM ranked
    WINDOW
        by_p AS (
            PARTITION BY ranked.is_headline
            ORDER BY ranked.p_value, ranked.direction, ranked.quantity, ranked.statistic
        )
)

SELECT
    compare_archives.a,
    compare_archives.b,
    adjusted.direction,
    adjusted.quantity,
    adjusted.statistic,
    adjusted.unit,

    adjusted.a_value,
    adjusted.b_value,
    adjusted.difference,
    adjusted.difference - adjusted.margin AS difference_low,
    adjusted.difference + adjusted.margin AS difference_high,
    adjusted.a_count,
    adjusted.b_count,
    adjusted.block_count,
    adjusted.p_value,
    CASE WHEN adjusted.p_value IS NOT NULL THEN adjusted.adjusted_p_value END AS adjusted_p_value,

    adjusted.is_headline,
    CASE WHEN adjusted.p_value IS NOT NULL THEN adjusted.adjusted_p_value < 0.05 END AS is_different,
    adjusted.set_apart,

    adjusted.a_began_at,
    adjusted.a_ended_at,
    adjusted.b_began_at,
    adjusted.b_ended_at
FROM adjusted

$function$;
