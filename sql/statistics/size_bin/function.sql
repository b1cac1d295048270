CREATE FUNCTION mart.size_bin(
    size_bytes bigint
) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $function$

-- Bin 1 is for empty files. Each number of digits has three bins, which begin at 1, 2 and 5.
SELECT
    CASE
        WHEN size_bin.size_bytes = 0 THEN 1
        ELSE
            3 * length(size_bin.size_bytes::text) - 1
            + (left(size_bin.size_bytes::text, 1) >= '2')::integer
            + (left(size_bin.size_bytes::text, 1) >= '5')::integer
    END

$function$;
