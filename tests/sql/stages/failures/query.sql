SELECT source, is_failed, is_failure_logged FROM mart.stages ORDER BY source
