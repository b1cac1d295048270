CREATE FUNCTION mart.kept_answers(function_name text, archive text, arguments jsonb) RETURNS TABLE (
    archive text,
    answer jsonb
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

SELECT
    answers.archive,
    answers.answer
FROM mart.answers
WHERE
    answers.function_name = kept_answers.function_name
    AND answers.arguments = kept_answers.arguments
    AND (kept_answers.archive IS NULL OR answers.archive = kept_answers.archive)
    AND mart.is_answered(kept_answers.function_name, kept_answers.archive, kept_answers.arguments)

$function$;
