CREATE VIEW mart.study_fields AS

WITH all_studies AS (
    SELECT * FROM studies.simulation_studies
),

options AS (
    SELECT DISTINCT
        study_id,
        option,
        changed
    FROM studies.study_runs
),

fields AS (
    SELECT DISTINCT
        options.study_id,
        names.field
    FROM options
    CROSS JOIN LATERAL jsonb_object_keys(options.changed) AS names (field)
),

-- What an option does not change has the value of the file.
found AS (
    SELECT
        options.study_id,
        options.option,
        fields.field,
        coalesce(
            options.changed -> fields.field,
            all_studies.machine #> string_to_array(fields.field, '.')
        ) AS value,
        options.changed ? fields.field AS is_changed
    FROM options
    INNER JOIN fields ON options.study_id = fields.study_id
    INNER JOIN all_studies ON options.study_id = all_studies.id
)

SELECT
    all_studies.name AS study,
    coalesce(nullif(found.option, ''), 'as in the file') AS option,
    found.field,
    found.value #>> '{}' AS value,
    CASE WHEN jsonb_typeof(found.value) = 'number' THEN found.value::double precision END AS value_number,
    found.is_changed
FROM found
INNER JOIN all_studies ON found.study_id = all_studies.id;
