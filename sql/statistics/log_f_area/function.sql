CREATE FUNCTION mart.log_f_area(
    log_f double precision,
    numerator_df double precision,
    denominator_df double precision
) RETURNS TABLE (
    log_height double precision,
    width double precision
)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $function$

-- The density of y = ln F over its height at y = 0, which is its peak, is exp(h(y)) with
--
--     h(y) = df1/2 * y - (df1 + df2)/2 * ln(1 + (e^y - 1) * df1 / (df1 + df2))
--
-- The area to the right of a point is summed over narrow strips. No gamma function is needed: a
-- probability is one such area over the whole area.
WITH arguments AS (
    SELECT
        CASE
            WHEN log_f_area.log_f >= 0 AND log_f_area.log_f < double precision 'infinity'
                THEN log_f_area.log_f
        END AS log_f,
        CASE WHEN log_f_area.numerator_df BETWEEN 0.1 AND 1e10 THEN log_f_area.numerator_df END AS df1,
        CASE WHEN log_f_area.denominator_df BETWEEN 0.1 AND 1e10 THEN log_f_area.denominator_df END AS df2
),

-- -h'(y) = (s - df1 / (df1 + df2)) * (df1 + df2)/2 and -h''(y) = s * (1 - s) * (df1 + df2)/2. They only
-- determine a suitable width of the strips. CASE is used because least() ignores nulls; exp() of a number
-- outside the range of a double would be an error.
slopes AS (
    SELECT
        arguments.log_f,
        arguments.df1,
        arguments.df2,
        arguments.df1 / (
            arguments.df1
            + arguments.df2 * exp(CASE WHEN arguments.log_f > 700 THEN -700 ELSE -arguments.log_f END)
        ) AS s
    FROM arguments
),

scales AS MATERIALIZED (
    SELECT
        slopes.log_f,
        slopes.df1,
        slopes.df2,
        1 / (
            (slopes.s * (slopes.df1 + slopes.df2) - slopes.df1) / 2
            + sqrt(slopes.s * (1 - slopes.s) * (slopes.df1 + slopes.df2) / 2)
        ) AS scale
    FROM slopes
),

-- The strips are at x = exp(u - exp(-u)) for equal steps of u: close together at the start, far apart at the
-- end. With such strips the sum converges so fast that halving them changes no digit (Takahasi and Mori's
-- double exponential formula). The first strip is so close to the point that it stands for the point.
steps AS (
    SELECT number / 32::double precision AS u
    FROM generate_series(-120, 160) AS number
),

strips AS (
    SELECT
        exp(steps.u - exp(-steps.u)) AS x,
        exp(steps.u - exp(-steps.u)) * (1 + exp(-steps.u)) / 32 AS strip_width
    FROM steps
),

places AS MATERIALIZED (
    SELECT
        scales.df1,
        scales.df2,
        scales.scale * strips.strip_width AS strip_width,
        scales.log_f + scales.scale * strips.x AS y
    FROM scales
    CROSS JOIN strips
),

-- h(y) in two forms, each used where it is not a difference of large numbers. They use ln(1 + x) = 2 *
-- atanh(x / (2 + x)) and e^y - 1 = 2 * sinh(y / 2) * exp(y / 2), which keep the digits of a small x or y.
heights AS MATERIALIZED (
    SELECT
        places.strip_width,
        CASE
            WHEN places.y < ln(places.df2 / places.df1)
                THEN
                    places.df1 / 2 * places.y
                    - (places.df1 + places.df2) * atanh(
                        places.df1 * sinh(places.y / 2) * exp(places.y / 2)
                        / (places.df1 + places.df2 + places.df1 * sinh(places.y / 2) * exp(places.y / 2))
                    )
            ELSE
                (places.df1 + places.df2) * atanh(
                    places.df2 * tanh(places.y / 2)
                    / (places.df1 + places.df2 + places.df1 * tanh(places.y / 2))
                )
                - places.df2 / 2 * places.y
        END AS log_height
    FROM places
),

-- The curve falls from the point on, so it is highest at the point.
drops AS (
    SELECT
        heights.strip_width,
        max(heights.log_height) OVER () AS log_height,
        heights.log_height - max(heights.log_height) OVER () AS drop
    FROM heights
)

SELECT
    max(drops.log_height) AS log_height,
    sum(drops.strip_width * exp(CASE WHEN drops.drop < -600 THEN -600 ELSE drops.drop END)) AS width
FROM drops

$function$;
