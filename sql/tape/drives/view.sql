CREATE VIEW mart.drives AS

WITH mounts AS (
    SELECT * FROM core.mounts
    WHERE drive IS NOT NULL
),

-- Grouped by the number of the archive, and not by its name, which is slower to compare.
drives AS (
    SELECT
        mounts.archive_id,
        mounts.interface,
        mounts.location,
        mounts.tape_type,
        mounts.drive,
        count(*) AS mount_count,
        count(*) FILTER (WHERE mounts.dismounted_at IS NULL) AS unfinished_count,
        min(mounts.first_event_at) AS first_mount_at,
        max(mounts.last_event_at) AS last_event_at
    FROM mounts
    GROUP BY mounts.drive, mounts.tape_type, mounts.location, mounts.interface, mounts.archive_id
),

archives AS (
    SELECT * FROM core.archives
)

SELECT
    archives.name AS archive,
    archives.kind,
    archives.timezone,
    drives.interface,
    drives.location,
    drives.tape_type,
    drives.drive,

    drives.mount_count,
    drives.unfinished_count,

    drives.first_mount_at,
    drives.last_event_at
FROM drives
INNER JOIN archives ON drives.archive_id = archives.id;
