-- The quantiles of Cauchy's distribution: tan(pi * (p - 1/2)).
SELECT
    p,
    mart.student_t_quantile(p, 1) AS t
FROM unnest(ARRAY[0.25, 0.5, 0.75, 5 / 6.0, 1e-300]::double precision[]) WITH ORDINALITY AS given (p, place)
ORDER BY place
