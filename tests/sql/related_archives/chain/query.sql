SELECT * FROM mart.related_archives
ORDER BY archive, related_archive, relation
