SELECT
    mart.f_quantile(0.875, 2, 6) AS above,
    mart.f_quantile(0.125, 6, 2) AS below,
    1 / mart.f_quantile(2.7e-299, 6, 2) AS far_above,
    mart.f_quantile(0, 2, 6) AS nothing
