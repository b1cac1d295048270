CREATE VIEW mart.related_archives AS

WITH archives AS (
    SELECT * FROM mart.archives
),

runs AS (
    SELECT * FROM mart.simulation_runs
),

-- For a simulation of a simulation, both the first simulation and the archive behind it. Names of models and
-- files are not names of archives.
origins AS (
    SELECT
        runs.archive,
        runs.demand_archive AS origin
    FROM runs
    UNION
    SELECT
        runs.archive,
        runs.demand_name AS origin
    FROM runs
    WHERE runs.demand = 'archive'
),

-- The name may since have been given to another archive.
pairs AS (
    SELECT
        archives.archive,
        archives.archive AS related_archive,
        'itself' AS relation
    FROM archives
    UNION ALL
    SELECT
        origins.origin AS archive,
        origins.archive AS related_archive,
        'simulated from it' AS relation
    FROM origins
    WHERE origins.origin <> origins.archive
    UNION ALL
    SELECT
        origins.archive,
        origins.origin AS related_archive,
        'its origin' AS relation
    FROM origins
    WHERE origins.origin <> origins.archive
)

SELECT
    pairs.archive,
    archives.kind,
    pairs.related_archive,
    related.kind AS related_kind,
    pairs.relation
FROM pairs
INNER JOIN archives ON pairs.archive = archives.archive
INNER JOIN archives AS related ON pairs.related_archive = related.archive;
