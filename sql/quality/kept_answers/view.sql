CREATE VIEW mart.kept_answers AS

WITH answers AS (
    SELECT * FROM studies.kept_answers
),

archives AS (
    SELECT * FROM core.archives
)

SELECT
    archives.name AS archive,
    archives.kind,
    answers.function_name,
    answers.arguments,
    answers.state,
    CASE WHEN NOT answers.has_names THEN answers.answer END AS answer,
    answers.has_names,
    answers.took_s,
    answers.computed_at
FROM answers
INNER JOIN archives ON answers.archive_id = archives.id;
