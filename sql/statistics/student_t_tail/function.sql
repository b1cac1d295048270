CREATE FUNCTION mart.student_t_tail(
    t double precision,
    degrees_of_freedom double precision
) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $function$

-- The square of t is F with one degree of freedom in the numerator. Its logarithm is used, because the square
-- may overflow.
SELECT
    mart.log_f_tail(
        CASE
            WHEN student_t_tail.t = 0 THEN double precision '-infinity'
            ELSE 2 * ln(abs(student_t_tail.t))
        END,
        1,
        student_t_tail.degrees_of_freedom
    )

$function$;
