CREATE FUNCTION mart.histogram_bin(
    value double precision
) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $function$

-- The exponent of the number and the first six binary digits behind it, which are its first bits, counted
-- from those of 2^-256. The first bits of a negative number are a negative integer. (Of null and 0, 0 is the
-- greatest.)
SELECT
    CASE
        WHEN histogram_bin.value IS NOT NULL
            THEN
                least(
                    greatest(
                        (('x' || encode(float8send(histogram_bin.value), 'hex'))::bit(64)::bigint >> 46)
                        - 49088,
                        0
                    ),
                    32767
                )
    END::smallint

$function$;
