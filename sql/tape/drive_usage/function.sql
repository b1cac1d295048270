CREATE FUNCTION mart.drive_usage(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    location text DEFAULT NULL,
    tape_type text DEFAULT NULL,
    drive text DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    tape_type text,
    requester text,
    task text,
    mount_count bigint,
    unfinished_count bigint,
    file_count bigint,
    untimed_count bigint,
    size_bytes numeric,
    occupied_s double precision,
    mounting_s double precision,
    transferring_s double precision,
    lazy_wait_s double precision,
    dismounting_s double precision,
    other_s double precision,
    occupied_ratio double precision
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH coverage AS MATERIALIZED (
    SELECT
        tape_coverage.archive,
        tape_coverage.has_dismounts,
        tape_coverage.has_files,
        tape_coverage.has_mount_times,
        tape_coverage.has_transfer_times,
        tape_coverage.has_lazy_waits,
        tape_coverage.has_dismount_times
    FROM mart.tape_coverage
    WHERE drive_usage.archive IS NULL OR tape_coverage.archive = drive_usage.archive
),

-- One row per mount with files. Its files may be of both tasks.
files AS (
    SELECT
        operations.mount_id,
        CASE WHEN min(operations.task) = max(operations.task) THEN min(operations.task) ELSE 'both' END
            AS task,
        count(*) FILTER (WHERE NOT operations.is_timed) AS untimed_count,
        count(*) FILTER (WHERE operations.is_timed) AS timed_count,
        -- Untimed files have no length.
        sum(
            least(operations.transferring_until, operations.range_until)
            - greatest(operations.transferring_from, operations.range_from)
        ) AS transferring
    FROM
        mart.selected_operations(
            archive => drive_usage.archive,
            since => drive_usage.since,
            until => drive_usage.until,
            interface => drive_usage.interface,
            location => drive_usage.location,
            tape_type => drive_usage.tape_type,
            drive => drive_usage.drive
        ) AS operations
    GROUP BY operations.mount_id
),

-- Times of each mount within the range.
mounts AS (
    SELECT
        selected.archive,
        selected.kind,
        selected.tape_type,
        selected.requester,
        files.task,
        selected.is_begun,
        selected.is_unfinished,
        selected.transfer_count,
        selected.size_bytes,
        files.timed_count,
        files.untimed_count,
        files.transferring,
        selected.positioned_at,
        selected.idle_from,
        selected.dismount_requested_at,
        greatest(selected.occupied_from, selected.range_from) AS span_from,
        least(selected.occupied_until, selected.range_until) AS span_until
    FROM
        mart.selected_mounts(
            archive => drive_usage.archive,
            since => drive_usage.since,
            until => drive_usage.until,
            interface => drive_usage.interface,
            location => drive_usage.location,
            tape_type => drive_usage.tape_type,
            drive => drive_usage.drive
        ) AS selected
    LEFT JOIN files ON selected.mount_id = files.mount_id
),

sums AS (
    SELECT
        mounts.archive,
        mounts.kind,
        mounts.tape_type,
        mounts.requester,
        mounts.task,
        count(*) FILTER (WHERE mounts.is_begun) AS mount_count,
        count(*) FILTER (WHERE mounts.is_begun AND mounts.is_unfinished) AS unfinished_count,
        sum(mounts.transfer_count) FILTER (WHERE mounts.is_begun) AS file_count,
        sum(mounts.size_bytes) FILTER (WHERE mounts.is_begun) AS size_bytes,
        coalesce(sum(mounts.timed_count), 0)::bigint AS timed_count,
        coalesce(sum(mounts.untimed_count), 0)::bigint AS untimed_count,
        sum(mounts.span_until - mounts.span_from) AS occupied,
        sum(
            greatest(least(mounts.positioned_at, mounts.span_until) - mounts.span_from, interval '0')
        ) FILTER (WHERE mounts.positioned_at IS NOT NULL) AS mounting,
        sum(mounts.transferring) AS transferring,
        sum(
            greatest(
                least(mounts.dismount_requested_at, mounts.span_until)
                - greatest(mounts.idle_from, mounts.span_from),
                interval '0'
            )
        ) FILTER (
            WHERE mounts.idle_from IS NOT NULL AND mounts.dismount_requested_at IS NOT NULL
        ) AS lazy_wait,
        sum(
            greatest(
                mounts.span_until - greatest(mounts.dismount_requested_at, mounts.span_from), interval '0'
            )
        ) FILTER (WHERE mounts.dismount_requested_at IS NOT NULL) AS dismounting
    FROM mounts
    GROUP BY mounts.archive, mounts.kind, mounts.tape_type, mounts.requester, mounts.task
),

known AS (
    SELECT
        sums.archive,
        sums.kind,
        sums.tape_type,
        sums.requester,
        sums.task,
        sums.mount_count,
        sums.unfinished_count,
        CASE WHEN coverage.has_files THEN coalesce(sums.file_count, 0)::bigint END AS file_count,
        sums.untimed_count,
        sums.size_bytes,
        CASE WHEN coverage.has_dismounts THEN date_part('epoch', sums.occupied) END AS occupied_s,
        CASE WHEN coverage.has_mount_times THEN coalesce(date_part('epoch', sums.mounting), 0) END
            AS mounting_s,
        CASE
            WHEN coverage.has_transfer_times AND (sums.timed_count > 0 OR sums.untimed_count = 0)
                THEN coalesce(date_part('epoch', sums.transferring), 0)
        END AS transferring_s,
        CASE WHEN coverage.has_lazy_waits THEN coalesce(date_part('epoch', sums.lazy_wait), 0) END
            AS lazy_wait_s,
        CASE WHEN coverage.has_dismount_times THEN coalesce(date_part('epoch', sums.dismounting), 0) END
            AS dismounting_s
    FROM sums
    INNER JOIN coverage ON sums.archive = coverage.archive
)

SELECT
    known.archive,
    known.kind,
    known.tape_type,
    known.requester,
    known.task,

    known.mount_count,
    known.unfinished_count,
    known.file_count,
    known.untimed_count,
    known.size_bytes,
    known.occupied_s,
    known.mounting_s,
    known.transferring_s,
    known.lazy_wait_s,
    known.dismounting_s,
    known.occupied_s - (
        coalesce(known.mounting_s, 0)
        + coalesce(known.transferring_s, 0)
        + coalesce(known.lazy_wait_s, 0)
        + coalesce(known.dismounting_s, 0)
    ) AS other_s,
    known.occupied_s / nullif(sum(known.occupied_s) OVER (PARTITION BY known.archive), 0) AS occupied_ratio
FROM known

$function$;
