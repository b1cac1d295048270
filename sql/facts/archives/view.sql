CREATE VIEW mart.archives AS

WITH archives AS (
    SELECT * FROM core.archives
)

SELECT
    archives.name AS archive,
    archives.kind,
    archives.timezone,

    archives.created_at,
    archives.retained_since,

    archives.client_cells_since,
    archives.has_client_cells
FROM archives;
