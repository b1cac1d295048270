SELECT get_count, fate FROM mart.file_versions(until => '2000-01-15T03:00:00Z')
