CREATE VIEW mart.month_peaks AS

WITH month_peaks AS (
    SELECT * FROM core.month_peaks
),

archives AS (
    SELECT * FROM core.archives
)

SELECT
    archives.name AS archive,
    archives.kind,
    month_peaks.interface,
    month_peaks.direction,
    month_peaks.class_of_service,

    month_peaks.transfer_count,
    month_peaks.ten_minutes,

    month_peaks.month AS starts_on
FROM month_peaks
INNER JOIN archives ON month_peaks.archive_id = archives.id;
