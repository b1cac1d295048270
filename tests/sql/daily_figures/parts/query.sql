SELECT section, concat_ws(' ', CASE WHEN system IS NOT NULL THEN 'system=' || system END,
    CASE WHEN gateway IS NOT NULL THEN 'gateway=' || gateway END,
    CASE WHEN client IS NOT NULL THEN 'client=' || client END,
    CASE WHEN application IS NOT NULL THEN 'application=' || application END,
    CASE WHEN storage_class IS NOT NULL THEN 'storage_class=' || storage_class END,
    CASE WHEN storage_class_number IS NOT NULL THEN 'storage_class_number=' || storage_class_number END,
    CASE WHEN drive_type IS NOT NULL THEN 'drive_type=' || drive_type END,
    CASE WHEN library IS NOT NULL THEN 'library=' || library END,
    CASE WHEN to_library IS NOT NULL THEN 'to_library=' || to_library END,
    CASE WHEN vsn IS NOT NULL THEN 'vsn=' || vsn END) AS of_what, figure, value
FROM mart.daily_figures ORDER BY value
