CREATE VIEW mart.answers AS

SELECT
    kept_answers.archive,
    kept_answers.kind,
    kept_answers.function_name,
    kept_answers.arguments,
    jsonb_array_length(kept_answers.answer) AS row_count,
    kept_answers.answer,
    kept_answers.has_names,
    kept_answers.took_s,
    kept_answers.state = archive_states.state AS is_current,
    kept_answers.computed_at
FROM mart.kept_answers
INNER JOIN mart.archive_states ON kept_answers.archive = archive_states.archive;
