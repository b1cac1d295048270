CREATE FUNCTION mart.histogram_value(
    bin integer
) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $function$

-- The middle of the bin. Bin 0 has 0 and all below.
SELECT
    CASE
        WHEN histogram_value.bin > 0
            THEN
                2.0::double precision ^ (histogram_value.bin / 64 - 256)
                * (1 + (mod(histogram_value.bin, 64) + 0.5::double precision) / 64)
        WHEN histogram_value.bin = 0 THEN 0
    END

$function$;
