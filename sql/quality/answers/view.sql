CREATE VIEW mart.answers AS

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
    jsonb_array_length(answers.answer) AS row_count,
    answers.answer,
    answers.took_s,
    (
        SELECT archive_states.state = answers.state
        FROM mart.archive_states
        WHERE archive_states.archive = archives.name
    ) AS is_current,
    answers.computed_at
FROM answers
INNER JOIN archives ON answers.archive_id = archives.id;
