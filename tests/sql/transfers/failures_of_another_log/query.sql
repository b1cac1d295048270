SELECT archive, source, interface, is_failed, is_failure_logged, ended_at
FROM mart.transfers
ORDER BY archive, interface, source, ended_at, is_failed
