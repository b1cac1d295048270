CREATE FUNCTION mart.size_bin_edge(
    bin integer
) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $function$

-- A power of numbers has decimals.
SELECT
    CASE
        WHEN size_bin_edge.bin = 1 THEN 0
        ELSE
            round(
                (ARRAY[1, 2, 5])[mod(size_bin_edge.bin - 2, 3) + 1]
                * 10::numeric ^ ((size_bin_edge.bin - 2) / 3)
            )
    END

$function$;
