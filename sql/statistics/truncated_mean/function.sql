CREATE FUNCTION mart.truncated_mean(
    mean_ratio double precision
) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $function$

-- With u = length / mean before truncation, the mean after it is 1 / u - 1 / (exp(u) - 1) of the length.
-- This falls from 1/2 at u = 0, there with a slope of -1/12, and is convex. So Newton's method begins below
-- the root and never passes it.
WITH RECURSIVE steps AS (
    SELECT
        0 AS number,
        12 * (0.5 - truncated_mean.mean_ratio) AS u,
        1::double precision AS gap
    WHERE truncated_mean.mean_ratio < 0.499
    UNION ALL
    SELECT
        steps.number + 1 AS number,
        steps.u + places.gap / places.slope AS u,
        places.gap
    FROM steps
    CROSS JOIN
        LATERAL (
            VALUES
            (
                1 / steps.u - 1 / (exp(steps.u) - 1) - truncated_mean.mean_ratio,
                1 / power(steps.u, 2) - 1 / power(2 * sinh(steps.u / 2), 2)
            )
        ) AS places (gap, slope)
    WHERE abs(steps.gap) > 1e-12 AND steps.number < 50
)

-- Each step is greater than the one before. Where the mean is so short, nothing is lost beyond the length.
SELECT
    CASE
        WHEN truncated_mean.mean_ratio < 0.002 THEN truncated_mean.mean_ratio
        ELSE 1 / (SELECT max(steps.u) FROM steps)
    END

$function$;
