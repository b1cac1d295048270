CREATE FUNCTION mart.f_tail(
    f double precision,
    numerator_df double precision,
    denominator_df double precision
) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $function$

SELECT
    mart.log_f_tail(
        CASE
            WHEN f_tail.f > 0 THEN ln(f_tail.f)
            WHEN f_tail.f = 0 THEN double precision '-infinity'
        END,
        f_tail.numerator_df,
        f_tail.denominator_df
    )

$function$;
