SELECT
    exp(mart.log_f_quantile(0.875, 0.125, 2, 6)) AS above,
    exp(mart.log_f_quantile(0.125, 0.875, 6, 2)) AS below,
    mart.log_f_quantile(1, exp(-500::double precision), 2, 1) + ln(2::double precision) AS far_above,
    mart.log_f_quantile(1, 0, 2, 1) = 'infinity' AS is_infinite
