CREATE FUNCTION mart.time_bin(
    time_s double precision
) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $function$

SELECT
    CASE
        WHEN time_bin.time_s < 10 THEN greatest(floor(time_bin.time_s * 20), 0)
        ELSE 180 + floor(time_bin.time_s * 2)
    END::bigint

$function$;
