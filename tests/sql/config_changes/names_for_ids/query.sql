SELECT
    config_change_id,
    archive,
    kind,
    change_kind,
    class_of_service,
    note,
    started_at,
    ended_at,
    recorded_at
FROM mart.config_changes
ORDER BY archive
