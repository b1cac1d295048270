CREATE VIEW mart.clients AS

WITH archives AS (
    SELECT * FROM core.archives
),

hosts AS (
    SELECT * FROM core.hosts
)

SELECT
    archives.name AS archive,
    archives.kind,
    hosts.name AS client
FROM hosts
INNER JOIN archives ON hosts.archive_id = archives.id;
