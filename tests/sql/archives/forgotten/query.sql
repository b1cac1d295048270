SELECT
    archive,
    retained_since
FROM mart.archives
ORDER BY archive
