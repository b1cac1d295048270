SELECT archive, kind, timezone FROM mart.archives ORDER BY archive
