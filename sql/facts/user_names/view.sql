CREATE VIEW mart.user_names AS

WITH users AS (
    SELECT * FROM core.users
),

archives AS (
    SELECT * FROM core.archives
)

SELECT
    archives.name AS archive,
    users.id AS user_id,
    users.name AS user_name
FROM users
INNER JOIN archives ON users.archive_id = archives.id;
