CREATE VIEW mart.tape_coverage AS

-- Each column is found by a query of its own, which runs only if the column is read, and ends with the first
-- row where it asks whether there is one.
WITH archives AS (
    SELECT * FROM core.archives
)

SELECT
    archives.name AS archive,
    archives.kind,
    archives.timezone,

    exists(
        SELECT 1 FROM core.mounts
        WHERE mounts.archive_id = archives.id AND mounts.dismounted_at IS NOT NULL
    ) AS has_dismounts,
    exists(
        SELECT 1 FROM core.mounts
        WHERE
            mounts.archive_id = archives.id
            AND num_nonnulls(mounts.positioned_at, mounts.transferred_at) > 0
    ) AS has_files,
    exists(
        SELECT 1 FROM core.mounts
        WHERE mounts.archive_id = archives.id AND mounts.positioned_at IS NOT NULL
    ) AS has_mount_times,
    exists(
        SELECT 1 FROM core.tape_operations
        WHERE
            tape_operations.archive_id = archives.id
            AND tape_operations.positioned_at IS NOT NULL
            AND tape_operations.transferred_at IS NOT NULL
    ) AS has_transfer_times,
    exists(
        SELECT 1 FROM core.mounts
        WHERE
            mounts.archive_id = archives.id
            AND mounts.transferred_at IS NOT NULL
            AND mounts.dismount_requested_at IS NOT NULL
    ) AS has_lazy_waits,
    exists(
        SELECT 1 FROM core.mounts
        WHERE
            mounts.archive_id = archives.id
            AND mounts.dismount_requested_at IS NOT NULL
            AND mounts.dismounted_at IS NOT NULL
    ) AS has_dismount_times,
    exists(
        SELECT 1 FROM core.tape_operations
        WHERE tape_operations.archive_id = archives.id AND tape_operations.received_at IS NOT NULL
    ) AS has_requests,
    EXISTS (
        SELECT 1 FROM core.tape_operations
        WHERE tape_operations.archive_id = archives.id AND tape_operations.is_failed IS NOT NULL
    )
    OR EXISTS (
        SELECT 1 FROM core.mounts
        WHERE mounts.archive_id = archives.id AND mounts.failed_count > 0
    ) AS has_failures,

    least(
        (
            SELECT min(mounts.first_event_at)
            FROM core.mounts
            WHERE mounts.archive_id = archives.id
        ),
        (
            SELECT min(tape_operations.first_event_at)
            FROM core.tape_operations
            WHERE
                tape_operations.archive_id = archives.id
                -- The first and the last event of an operation are at most three days apart, so later ones
                -- need not be read.
                AND tape_operations.last_event_at <= (
                    SELECT min(firsts.last_event_at)
                    FROM core.tape_operations AS firsts
                    WHERE firsts.archive_id = archives.id
                ) + interval '3 days'
        )
    ) AS first_event_at,
    greatest(
        (
            SELECT max(mounts.last_event_at)
            FROM core.mounts
            WHERE mounts.archive_id = archives.id
        ),
        (
            SELECT max(tape_operations.last_event_at)
            FROM core.tape_operations
            WHERE tape_operations.archive_id = archives.id
        )
    ) AS last_event_at
FROM archives;
