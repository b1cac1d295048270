CREATE FUNCTION mart.mount_days(
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
    mount_count bigint,
    volume_count bigint,
    mounts_per_volume double precision,
    unanswered_count bigint,
    unfinished_count bigint,
    counted_count bigint,
    file_count bigint,
    one_file_count bigint,
    no_file_count bigint,
    size_bytes numeric,
    files_per_mount double precision,
    bytes_per_mount double precision,
    saved_count bigint,
    followed_count bigint,
    remount_1h_count bigint,
    remount_24h_count bigint,
    remount_1h_ratio double precision,
    remount_24h_ratio double precision,
    starts_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH coverage AS MATERIALIZED (
    SELECT
        tape_coverage.archive,
        tape_coverage.has_dismounts,
        tape_coverage.has_files,
        tape_coverage.has_requests,
        tape_coverage.last_event_at
    FROM mart.tape_coverage
    WHERE mount_days.archive IS NULL OR tape_coverage.archive = mount_days.archive
),

-- No mount that begins in the range, nor a next one within 24 hours of its dismount, begins after this time.
reach AS MATERIALIZED (
    SELECT max(selected.occupied_until) + interval '2 days' AS until
    FROM
        mart.selected_mounts(
            archive => mount_days.archive,
            since => mount_days.since,
            until => mount_days.until
        ) AS selected
    WHERE mount_days.until IS NOT NULL
),

saved AS (
    SELECT
        operations.mount_id,
        count(*) AS saved_count
    FROM reach
    CROSS JOIN
        LATERAL mart.selected_operations(
            archive => mount_days.archive,
            since => mount_days.since,
            until => reach.until
        ) AS operations
    WHERE operations.is_saving
    GROUP BY operations.mount_id
),

-- All mounts from the first day on, whichever are asked for, because the next mount of a cartridge may be in
-- any drive and on a later day.
in_order AS (
    SELECT
        selected.*,
        (selected.occupied_from AT TIME ZONE selected.timezone)::date AS starts_on,
        lead(selected.occupied_from) OVER (
            PARTITION BY selected.vsn, selected.archive
            ORDER BY selected.occupied_from, selected.mount_id
        ) - selected.dismounted_at AS until_remount,
        coverage.last_event_at - selected.dismounted_at AS followed
    FROM reach
    CROSS JOIN
        LATERAL mart.selected_mounts(
            archive => mount_days.archive,
            since => mount_days.since,
            until => reach.until
        ) AS selected
    INNER JOIN coverage ON selected.archive = coverage.archive
),

mounts AS (
    SELECT
        in_order.archive,
        in_order.kind,
        in_order.tape_type,
        in_order.vsn,
        in_order.is_unfinished,
        in_order.transfer_count,
        in_order.size_bytes,
        saved.saved_count,
        in_order.followed >= interval '24 hours' AS is_followed,
        in_order.until_remount,
        FALSE AS is_unanswered,
        in_order.starts_on
    FROM in_order
    LEFT JOIN saved ON in_order.mount_id = saved.mount_id
    WHERE
        (mount_days.interface IS NULL OR in_order.interface = mount_days.interface)
        AND (mount_days.location IS NULL OR in_order.location = mount_days.location)
        AND (mount_days.tape_type IS NULL OR in_order.tape_type = mount_days.tape_type)
        AND (mount_days.drive IS NULL OR in_order.drive = mount_days.drive)
        AND in_order.is_begun
        AND (
            mount_days.until IS NULL
            OR in_order.starts_on < mount_days.until AT TIME ZONE in_order.timezone
        )
        AND coalesce(mount_days.since, timestamptz '-infinity')
        < coalesce(mount_days.until, timestamptz 'infinity')
    UNION ALL
    -- Requests after which the cartridge reached no drive.
    SELECT
        unanswered.archive,
        unanswered.kind,
        unanswered.tape_type,
        NULL AS vsn,
        FALSE AS is_unfinished,
        NULL AS transfer_count,
        NULL AS size_bytes,
        NULL AS saved_count,
        FALSE AS is_followed,
        NULL AS until_remount,
        TRUE AS is_unanswered,
        (unanswered.last_event_at AT TIME ZONE unanswered.timezone)::date AS starts_on
    FROM mart.mounts AS unanswered
    WHERE
        unanswered.drive IS NULL
        AND (mount_days.archive IS NULL OR unanswered.archive = mount_days.archive)
        AND (mount_days.interface IS NULL OR unanswered.interface = mount_days.interface)
        AND (mount_days.location IS NULL OR unanswered.location = mount_days.location)
        AND (mount_days.tape_type IS NULL OR unanswered.tape_type = mount_days.tape_type)
        AND mount_days.drive IS NULL
        AND unanswered.last_event_at
        >= coalesce(mount_days.since, timestamptz '-infinity') - interval '2 days'
        AND unanswered.last_event_at < coalesce(mount_days.until, timestamptz 'infinity') + interval '2 days'
        AND (
            mount_days.since IS NULL
            OR (unanswered.last_event_at AT TIME ZONE unanswered.timezone)::date
            >= (mount_days.since AT TIME ZONE unanswered.timezone)::date
        )
        AND (
            mount_days.until IS NULL
            OR (unanswered.last_event_at AT TIME ZONE unanswered.timezone)::date
            < mount_days.until AT TIME ZONE unanswered.timezone
        )
        AND coalesce(mount_days.since, timestamptz '-infinity')
        < coalesce(mount_days.until, timestamptz 'infinity')
),

days AS (
    SELECT
        mounts.archive,
        mounts.kind,
        mounts.tape_type,
        count(*) FILTER (WHERE NOT mounts.is_unanswered) AS mount_count,
        count(DISTINCT mounts.vsn) AS volume_count,
        count(*) FILTER (WHERE mounts.is_unanswered) AS unanswered_count,
        count(*) FILTER (WHERE mounts.is_unfinished) AS unfinished_count,
        count(mounts.transfer_count) AS counted_count,
        sum(mounts.transfer_count)::bigint AS file_count,
        count(*) FILTER (WHERE mounts.transfer_count = 1) AS one_file_count,
        count(*) FILTER (WHERE mounts.transfer_count = 0) AS no_file_count,
        sum(mounts.size_bytes) AS size_bytes,
        coalesce(sum(mounts.saved_count), 0)::bigint AS saved_count,
        count(*) FILTER (WHERE mounts.is_followed) AS followed_count,
        count(*) FILTER (WHERE mounts.is_followed AND mounts.until_remount <= interval '1 hour')
            AS remount_1h_count,
        count(*) FILTER (WHERE mounts.is_followed AND mounts.until_remount <= interval '24 hours')
            AS remount_24h_count,
        mounts.starts_on
    FROM mounts
    GROUP BY mounts.archive, mounts.kind, mounts.tape_type, mounts.starts_on
)

SELECT
    days.archive,
    days.kind,
    days.tape_type,

    days.mount_count,
    days.volume_count,
    days.mount_count::double precision / nullif(days.volume_count, 0) AS mounts_per_volume,
    days.unanswered_count,
    CASE WHEN coverage.has_dismounts THEN days.unfinished_count END AS unfinished_count,
    days.counted_count,
    days.file_count,
    CASE WHEN days.counted_count > 0 THEN days.one_file_count END AS one_file_count,
    CASE WHEN days.counted_count > 0 THEN days.no_file_count END AS no_file_count,
    days.size_bytes,
    days.file_count::double precision / nullif(days.counted_count, 0) AS files_per_mount,
    days.size_bytes::double precision / nullif(days.counted_count, 0) AS bytes_per_mount,
    CASE WHEN coverage.has_requests THEN days.saved_count END AS saved_count,
    CASE WHEN coverage.has_dismounts THEN days.followed_count END AS followed_count,
    CASE WHEN coverage.has_dismounts THEN days.remount_1h_count END AS remount_1h_count,
    CASE WHEN coverage.has_dismounts THEN days.remount_24h_count END AS remount_24h_count,
    days.remount_1h_count::double precision / nullif(days.followed_count, 0) AS remount_1h_ratio,
    days.remount_24h_count::double precision / nullif(days.followed_count, 0) AS remount_24h_ratio,

    days.starts_on
FROM days
INNER JOIN coverage ON days.archive = coverage.archive

$function$;
