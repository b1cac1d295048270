CREATE VIEW mart.study_pools AS

WITH all_studies AS (
    SELECT * FROM studies.simulation_studies
),

-- A figure of a pool is called pool.NAME.FIGURE; a name has no dots.
figures AS (
    SELECT
        runs.study_id,
        runs.option,
        runs.seed,
        split_part(found.key, '.', 2) AS pool,
        split_part(found.key, '.', 3) AS figure,
        (found.value #>> '{}')::double precision AS value
    FROM studies.study_runs AS runs
    CROSS JOIN LATERAL jsonb_each(runs.figures) AS found (key, value)
    WHERE starts_with(found.key, 'pool.')
)

SELECT
    all_studies.name AS study,
    coalesce(nullif(figures.option, ''), 'as in the file') AS option,
    figures.seed,
    figures.pool,
    max(figures.value) FILTER (WHERE figures.figure = 'capacity_bytes')::bigint AS capacity_bytes,
    max(figures.value) FILTER (WHERE figures.figure = 'get_count')::bigint AS get_count,
    max(figures.value) FILTER (WHERE figures.figure = 'miss_count')::bigint AS miss_count,
    max(figures.value) FILTER (WHERE figures.figure = 'hit_ratio') AS hit_ratio,
    max(figures.value) FILTER (WHERE figures.figure = 'purged_bytes')::bigint AS purged_bytes
FROM figures
INNER JOIN all_studies ON figures.study_id = all_studies.id
GROUP BY all_studies.name, figures.option, figures.seed, figures.pool;
