CREATE FUNCTION mart.histogram_bin(
    value double precision
) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $function$

-- The exponent of the number and the first six binary digits behind it, which are its first bits.
SELECT
    CASE
        WHEN histogram_bin.value <= 0 THEN 0
        ELSE (('x' || encode(float8send(histogram_bin.value), 'hex'))::bit(64)::bigint >> 46)::integer
    END

$function$;
