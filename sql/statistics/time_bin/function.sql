CREATE FUNCTION mart.time_bin(
    time_s double precision
) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $function$

-- Both products are exact for numbers that begin a bin of a chart. An integer cannot number more bins.
SELECT
    CASE
        WHEN time_bin.time_s < 10 THEN greatest(floor(time_bin.time_s * 20), 0)
        WHEN time_bin.time_s >= 10 THEN 180 + floor(least(time_bin.time_s, 1e9) * 2)
    END::integer

$function$;
