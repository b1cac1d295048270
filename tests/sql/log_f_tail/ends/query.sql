-- With 2 and 1 degrees of freedom the tail is (1 + 2 F) ^ (-1/2).
SELECT
    mart.log_f_tail(620 * ln(10::double precision) - ln(2::double precision), 2, 1) AS smallest,
    mart.log_f_tail(2 * 747 - ln(2::double precision), 2, 1) AS below_the_smallest,
    mart.log_f_tail('infinity', 5, 3) AS infinite,
    mart.log_f_tail('-infinity', 5, 3) AS nothing,
    mart.log_f_tail('infinity', NULL, 3) AS infinite_without_numerator,
    mart.log_f_tail('infinity', 3, 0) AS infinite_without_denominator,
    mart.log_f_tail('nan', 5, 3) AS no_number,
    mart.log_f_tail(NULL, 5, 3) AS no_f
