CREATE VIEW mart.activity_cells AS

WITH activity_cells AS (
    SELECT * FROM core.activity_cells
),

archives AS (
    SELECT * FROM core.archives
)

SELECT
    archives.name AS archive,
    archives.kind,
    archives.timezone,
    activity_cells.interface,
    activity_cells.direction,

    activity_cells.transfer_count,
    activity_cells.failed_count,
    activity_cells.saturated_count,
    activity_cells.size_bytes,
    activity_cells.duration_us,

    activity_cells.cell_at
FROM activity_cells
INNER JOIN archives ON activity_cells.archive_id = archives.id;
