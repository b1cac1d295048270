SELECT * FROM mart.file_versions() ORDER BY version_id
