-- With 2 and df degrees of freedom the upper tail is (1 + 2 F / df) ^ (-df / 2).
SELECT
    exp(mart.log_f_quantile(1197 / 2197::double precision, 1000 / 2197::double precision, 2, 6)) AS beside_the_centre,
    exp(mart.log_f_quantile(0.5, 0.5, 7, 7)) AS centre,
    exp(mart.log_f_quantile(1, 1e-300, 2, 1e10)) AS many_steps,
    mart.log_f_quantile(0, 1, 2, 6) AS nothing,
    mart.log_f_quantile(-0.1, 0.5, 2, 6) AS lower_below_nought,
    mart.log_f_quantile(1.1, 0.5, 2, 6) AS lower_above_one,
    mart.log_f_quantile(0.5, -0.1, 2, 6) AS upper_below_nought,
    mart.log_f_quantile(0.5, 1.1, 2, 6) AS upper_above_one,
    mart.log_f_quantile(NULL, 0.5, 2, 6) AS no_lower,
    mart.log_f_quantile(0.5, NULL, 2, 6) AS no_upper
