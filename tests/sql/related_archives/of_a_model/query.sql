SELECT * FROM mart.related_archives
WHERE relation <> 'itself'
ORDER BY archive
