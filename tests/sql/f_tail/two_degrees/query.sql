-- With 2 degrees of freedom above, the tail is (1 + 2 f / df) ^ (-df / 2); with 2 below, 1 less a power.
SELECT
    mart.f_tail(3, 2, 6) AS above,
    mart.f_tail(1 / 3.0, 6, 2) AS below,
    mart.f_tail(1e100, 2, 6) AS far_above,
    mart.f_tail(0, 2, 6) AS nothing
