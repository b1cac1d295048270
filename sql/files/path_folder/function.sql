CREATE FUNCTION mart.path_folder(
    path text,
    depth integer
) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $function$

-- A pattern may repeat at most 255 times.
SELECT
    coalesce(
        rtrim(
            substring(
                parts.path,
                '^/?(?:[^/]+/){1,'
                || CASE WHEN path_folder.depth >= 1 THEN least(path_folder.depth, 255) ELSE 2 END
                || '}'
            ),
            '/'
        ),
        CASE WHEN starts_with(parts.path, '/') THEN '/' WHEN parts.path IS NOT NULL THEN '.' END
    ) AS folder
FROM (VALUES (regexp_replace(path_folder.path, '/+', '/', 'g'))) AS parts (path)

$function$;
