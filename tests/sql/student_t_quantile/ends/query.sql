-- The first has two degrees of freedom, the others Cauchy's distribution.
SELECT
    mart.student_t_quantile(0.975, 2) AS two_degrees,
    mart.student_t_quantile(0.5 + power(2::double precision, -40), 1) AS beside_the_middle,
    mart.student_t_quantile(1e-305, 1) AS largest,
    mart.student_t_quantile(1e-309, 1) AS above_the_largest,
    mart.student_t_quantile(1, 1) AS last,
    mart.student_t_quantile(-0.1, 1) AS below_nought,
    mart.student_t_quantile(1.1, 1) AS above_one
