CREATE FUNCTION mart.is_answered(function_name text, archive text, arguments jsonb) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- Without an answer, there is nothing to compare, so the archives are not looked at.
SELECT
    coalesce(bool_and(answers.is_current), FALSE)
    AND CASE
        WHEN count(*) > 0
            THEN
                count(*) = (
                    SELECT count(*)
                    FROM mart.archives
                    WHERE is_answered.archive IS NULL OR archives.archive = is_answered.archive
                )
        ELSE FALSE
    END
FROM mart.answers
WHERE
    answers.function_name = is_answered.function_name
    AND answers.arguments = is_answered.arguments
    AND (is_answered.archive IS NULL OR answers.archive = is_answered.archive)

$function$;
