CREATE FUNCTION mart.lower_envelopes(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    stratum_size integer DEFAULT NULL,
    is_fresh boolean DEFAULT FALSE
) RETURNS TABLE (
    archive text,
    kind text,
    interface text,
    direction text,
    stratum_size integer,
    stratum_count bigint,
    transfer_count bigint,
    filtered_count bigint,
    latency_s double precision,
    slope_s_per_byte double precision,
    rate_bytes_per_s double precision,
    r_squared double precision,
    latency_se_s double precision,
    slope_se_s_per_byte double precision,
    residual_se_s double precision,
    latency_low_s double precision,
    latency_high_s double precision,
    slope_low_s_per_byte double precision,
    slope_high_s_per_byte double precision,
    rate_low_bytes_per_s double precision,
    rate_high_bytes_per_s double precision,
    latency_t double precision,
    latency_p double precision,
    slope_t double precision,
    slope_p double precision,
    r double precision,
    adjusted_r_squared double precision,
    regression_df bigint,
    residual_df bigint,
    total_df bigint,
    regression_squares_s2 double precision,
    residual_squares_s2 double precision,
    total_squares_s2 double precision,
    regression_mean_square_s2 double precision,
    residual_mean_square_s2 double precision,
    f double precision,
    f_p double precision,
    newer_count bigint,
    is_prepared boolean,
    computed_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- Whether each archive's lines are computed or were prepared is known before transfers are read.
WITH choices AS (
    SELECT *
    FROM
        mart.envelope_choices(
            archive => lower_envelopes.archive,
            since => lower_envelopes.since,
            until => lower_envelopes.until,
            interface => lower_envelopes.interface,
            direction => lower_envelopes.direction,
            client => lower_envelopes.client,
            class_of_service => lower_envelopes.class_of_service,
            has_default_sizes => lower_envelopes.stratum_size IS NULL OR lower_envelopes.stratum_size < 1,
            is_fresh => lower_envelopes.is_fresh
        )
),

-- The same strata that mart.envelope_points shows, read once for both the points and the counts. The
-- subquery is computed first, and if it is false, nothing is read.
strata AS (
    SELECT candidates.*
    FROM
        mart.envelope_strata(
            archive => lower_envelopes.archive,
            since => lower_envelopes.since,
            until => lower_envelopes.until,
            interface => lower_envelopes.interface,
            direction => lower_envelopes.direction,
            client => lower_envelopes.client,
            class_of_service => lower_envelopes.class_of_service,
            stratum_size => lower_envelopes.stratum_size
        ) AS candidates
    INNER JOIN choices ON candidates.archive = choices.archive AND choices.is_fresh
    WHERE (SELECT bool_or(chosen.is_fresh) FROM choices AS chosen)
),

-- Each archive, interface and direction, including those that lose every transfer to the filter.
counts AS (
    SELECT
        strata.archive,
        strata.kind,
        strata.interface,
        strata.direction,
        strata.stratum_size,
        count(*) FILTER (WHERE strata.is_full) AS stratum_count,
        coalesce(
            sum(strata.transfer_count) FILTER (WHERE NOT strata.is_filtered), 0
        )::bigint AS transfer_count,
        coalesce(
            sum(strata.transfer_count) FILTER (WHERE strata.is_filtered), 0
        )::bigint AS filtered_count,
        -- Over all strata, because those that are not full come last by size.
        min(strata.size_bytes) AS smallest_bytes,
        min(strata.duration_s) FILTER (WHERE strata.is_full) AS shortest_s
    FROM strata
    GROUP BY strata.archive, strata.kind, strata.interface, strata.direction, strata.stratum_size
),

-- The smallest size and the shortest duration are subtracted, so that a quantity that does not vary is
-- exactly zero and not the rounding error of a mean. Terms are added in a fixed order, so that the sums are
-- always identical to the last bit.
points AS (
    SELECT
        strata.archive,
        strata.interface,
        strata.direction,
        strata.stratum,
        (strata.size_bytes - counts.smallest_bytes)::double precision AS size_above_bytes,
        strata.duration_s - counts.shortest_s AS duration_above_s
    FROM strata
    INNER JOIN counts
        ON
            strata.archive = counts.archive
            AND strata.interface = counts.interface
            AND strata.direction = counts.direction
    WHERE strata.is_full
),

fits AS (
    SELECT
        points.archive,
        points.interface,
        points.direction,
        regr_slope(
            points.duration_above_s, points.size_above_bytes ORDER BY points.stratum
        ) AS slope_s_per_byte,
        regr_intercept(
            points.duration_above_s, points.size_above_bytes ORDER BY points.stratum
        ) AS intercept_above_s,
        regr_avgx(
            points.duration_above_s, points.size_above_bytes ORDER BY points.stratum
        ) AS mean_above_bytes,
        regr_sxx(points.duration_above_s, points.size_above_bytes ORDER BY points.stratum) AS size_squares
    FROM points
    GROUP BY points.archive, points.interface, points.direction
),

-- Computed from the residuals themselves, because the difference of two sums of squares would lose the digits
-- that matter.
residuals AS (
    SELECT
        points.archive,
        points.interface,
        points.direction,
        sum(
            power(
                points.duration_above_s
                - fits.intercept_above_s
                - fits.slope_s_per_byte * points.size_above_bytes,
                2
            )
            ORDER BY points.stratum
        ) AS residual_squares
    FROM points
    INNER JOIN fits
        ON
            points.archive = fits.archive
            AND points.interface = fits.interface
            AND points.direction = fits.direction
    GROUP BY points.archive, points.interface, points.direction
),

-- The line. With two points its error is not zero but unknown, because no degrees of freedom (n - 2) are
-- left.
lines AS (
    SELECT
        counts.archive,
        counts.kind,
        counts.interface,
        counts.direction,
        counts.stratum_size,
        counts.stratum_count,
        counts.transfer_count,
        counts.filtered_count,
        counts.shortest_s
        + fits.intercept_above_s
        - fits.slope_s_per_byte * counts.smallest_bytes AS latency_s,
        fits.slope_s_per_byte,
        power(fits.slope_s_per_byte, 2) * fits.size_squares AS regression_squares_s2,
        residuals.residual_squares AS residual_squares_s2,
        sqrt(
            residuals.residual_squares / CASE WHEN counts.stratum_count > 2 THEN counts.stratum_count - 2 END
        ) AS residual_se_s,
        counts.smallest_bytes + fits.mean_above_bytes AS mean_bytes,
        nullif(fits.size_squares, 0) AS size_squares
    FROM counts
    LEFT JOIN fits
        ON
            counts.archive = fits.archive
            AND counts.interface = fits.interface
            AND counts.direction = fits.direction
    LEFT JOIN residuals
        ON
            counts.archive = residuals.archive
            AND counts.interface = residuals.interface
            AND counts.direction = residuals.direction
),

errors AS (
    SELECT
        lines.*,
        lines.residual_se_s
        * sqrt(
            1 / nullif(lines.stratum_count, 0)::double precision
            + power(lines.mean_bytes, 2) / lines.size_squares
        ) AS latency_se_s,
        lines.residual_se_s / sqrt(lines.size_squares) AS slope_se_s_per_byte
    FROM lines
),

answers AS (
    SELECT
        errors.archive,
        errors.kind,
        errors.interface,
        errors.direction,
        errors.stratum_size,
        errors.stratum_count,
        errors.transfer_count,
        errors.filtered_count,
        errors.latency_s,
        errors.slope_s_per_byte,
        errors.latency_se_s,
        errors.slope_se_s_per_byte,
        errors.regression_squares_s2,
        errors.residual_squares_s2,
        0::bigint AS newer_count,
        FALSE AS is_prepared,
        NULL::timestamptz AS computed_at
    FROM errors
    UNION ALL
    SELECT
        prepared.archive,
        prepared.kind,
        prepared.interface,
        prepared.direction,
        prepared.stratum_size,
        prepared.stratum_count,
        prepared.transfer_count,
        prepared.filtered_count,
        prepared.latency_s,
        prepared.slope_s_per_byte,
        prepared.latency_se_s,
        prepared.slope_se_s_per_byte,
        prepared.regression_squares_s2,
        prepared.residual_squares_s2,
        choices.newer_count,
        TRUE AS is_prepared,
        choices.computed_at
    FROM mart.prepared_envelopes AS prepared
    INNER JOIN choices ON prepared.preparation_id = choices.preparation_id
    WHERE
        (lower_envelopes.interface IS NULL OR prepared.interface = lower_envelopes.interface)
        AND (lower_envelopes.direction IS NULL OR prepared.direction = lower_envelopes.direction)
)

SELECT
    answers.archive,
    answers.kind,
    answers.interface,
    answers.direction,

    answers.stratum_size,
    answers.stratum_count,
    answers.transfer_count,
    answers.filtered_count,
    answers.latency_s,
    answers.slope_s_per_byte,
    statistics.rate_bytes_per_s,
    statistics.r_squared,
    answers.latency_se_s,
    answers.slope_se_s_per_byte,
    statistics.residual_se_s,

    statistics.latency_low_s,
    statistics.latency_high_s,
    statistics.slope_low_s_per_byte,
    statistics.slope_high_s_per_byte,
    statistics.rate_low_bytes_per_s,
    statistics.rate_high_bytes_per_s,

    statistics.latency_t,
    statistics.latency_p,
    statistics.slope_t,
    statistics.slope_p,

    statistics.r,
    statistics.adjusted_r_squared,
    statistics.regression_df,
    statistics.residual_df,
    statistics.total_df,
    answers.regression_squares_s2,
    answers.residual_squares_s2,
    statistics.total_squares_s2,
    statistics.regression_mean_square_s2,
    statistics.residual_mean_square_s2,
    statistics.f,
    statistics.f_p,

    answers.newer_count,
    answers.is_prepared,
    answers.computed_at
FROM answers
CROSS JOIN
    LATERAL mart.line_statistics(
        point_count => answers.stratum_count,
        latency_s => answers.latency_s,
        latency_se_s => answers.latency_se_s,
        slope_s_per_byte => answers.slope_s_per_byte,
        slope_se_s_per_byte => answers.slope_se_s_per_byte,
        regression_squares_s2 => answers.regression_squares_s2,
        residual_squares_s2 => answers.residual_squares_s2
    ) AS statistics

$function$;
