CREATE VIEW mart.kept_names AS

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
    answers.answer
FROM answers
INNER JOIN archives ON answers.archive_id = archives.id
WHERE answers.has_names;
