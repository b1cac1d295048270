SELECT archive, source, interface, is_failed, told_by, user_id, count(*) AS request_count
FROM mart.requests
GROUP BY archive, source, interface, is_failed, told_by, user_id
ORDER BY archive, source, interface, is_failed, told_by
