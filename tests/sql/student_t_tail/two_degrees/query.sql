SELECT
    mart.student_t_tail(1, 2) AS p,
    mart.student_t_tail('-infinity', 2) AS infinite,
    mart.student_t_tail('nan', 2) AS no_number,
    mart.student_t_tail(NULL, 2) AS no_t
