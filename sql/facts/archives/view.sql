CREATE VIEW mart.archives AS

WITH archives AS (
    SELECT * FROM core.archives
)

SELECT
    archives.name AS archive,
    archives.kind,
    archives.timezone,

    archives.created_at,
    archives.retained_since
FROM archives;
