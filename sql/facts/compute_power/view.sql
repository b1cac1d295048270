CREATE VIEW mart.compute_power AS

WITH compute_powers AS (
    SELECT * FROM core.compute_powers
),

archives AS (
    SELECT * FROM core.archives
)

SELECT
    compute_powers.id AS compute_power_id,
    archives.name AS archive,
    archives.kind,
    compute_powers.flop_per_s,
    compute_powers.note,

    compute_powers.recorded_at,
    compute_powers.starts_on,
    lead(compute_powers.starts_on)
        OVER (PARTITION BY compute_powers.archive_id ORDER BY compute_powers.starts_on)
    - 1 AS ends_on
FROM compute_powers
INNER JOIN archives ON compute_powers.archive_id = archives.id;
