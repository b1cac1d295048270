SELECT
    mart.f_tail('infinity', 5, 3) AS infinite,
    mart.f_tail(-1, 5, 3) AS below_nought,
    mart.f_tail('nan', 5, 3) AS no_number,
    mart.f_tail(NULL, 5, 3) AS no_f
