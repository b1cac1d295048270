CREATE FUNCTION mart.size_class(
    size_bytes bigint
) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $function$

SELECT
    CASE
        WHEN size_class.size_bytes < 2000000 THEN 'small'
        WHEN size_class.size_bytes < 200000000 THEN 'medium'
        WHEN size_class.size_bytes <= 1000000000 THEN 'large'
        WHEN size_class.size_bytes > 1000000000 THEN 'huge'
    END

$function$;
