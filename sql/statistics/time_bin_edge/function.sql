CREATE FUNCTION mart.time_bin_edge(
    bin integer
) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $function$

SELECT
    CASE
        WHEN time_bin_edge.bin < 200 THEN time_bin_edge.bin / 20::double precision
        ELSE (time_bin_edge.bin - 180) / 2::double precision
    END

$function$;
