-- As f_tail, for an F of e^1000, which is no number: (1 + e^1000) ^ (-1/2) with 2 and 1 degrees of freedom.
SELECT
    mart.log_f_tail(ln(3::double precision), 2, 6) AS above,
    mart.log_f_tail(-ln(3::double precision), 6, 2) AS below,
    mart.log_f_tail(1000 - ln(2::double precision), 2, 1) / exp(-500::double precision) AS far_above
