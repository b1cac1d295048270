CREATE FUNCTION mart.is_answered(
    function_name text DEFAULT NULL,
    archive text DEFAULT NULL,
    arguments jsonb DEFAULT '{}'
) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- An archive has at most one answer to a question.
SELECT
    coalesce(bool_and(answers.is_current), FALSE)
    AND count(*) = (
        SELECT count(*)
        FROM mart.archives
        WHERE is_answered.archive IS NULL OR archives.archive = is_answered.archive
    )
FROM mart.answers
WHERE
    answers.function_name = is_answered.function_name
    AND answers.arguments = is_answered.arguments
    AND (is_answered.archive IS NULL OR answers.archive = is_answered.archive)

$function$;
