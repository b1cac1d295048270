-- With 0.1 and 2 degrees of freedom F lies below f with probability (1 + 20 / f) ^ (-1/20), with 2 and 0.1
-- above it with probability (1 + 20 f) ^ (-1/20).
SELECT
    mart.f_quantile(exp(-(ln(20::double precision) + 310 * ln(10::double precision)) / 20), 0.1, 2) AS smallest,
    mart.f_quantile(exp(-(ln(20::double precision) + 747) / 20), 0.1, 2) AS below_the_smallest,
    mart.f_quantile(1 - power(2::double precision, -51), 2, 0.1) AS largest,
    mart.f_quantile(1 - power(2::double precision, -52), 2, 0.1) AS above_the_largest,
    mart.f_quantile(1, 2, 0.1) AS last,
    mart.f_quantile(NULL, 2, 0.1) AS no_probability
