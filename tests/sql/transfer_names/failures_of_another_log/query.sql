SELECT archive_path, count(*) AS transfer_count
FROM mart.transfer_names
GROUP BY archive_path
ORDER BY archive_path
