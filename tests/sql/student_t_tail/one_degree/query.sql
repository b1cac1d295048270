-- The tail of Cauchy's distribution: 2/pi * atan(1/t).
SELECT
    t,
    mart.student_t_tail(t, 1) AS p,
    mart.student_t_tail(-t, 1) AS p_of_minus_t
FROM unnest(ARRAY[0, 1, sqrt(3), 1e200]::double precision[]) WITH ORDINALITY AS given (t, place)
ORDER BY place
