CREATE FUNCTION mart.selected_mounts(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    location text DEFAULT NULL,
    tape_type text DEFAULT NULL,
    drive text DEFAULT NULL
) RETURNS TABLE (
    mount_id bigint,
    archive text,
    kind text,
    timezone text,
    interface text,
    location text,
    tape_type text,
    drive text,
    vsn text,
    requester text,
    transfer_count bigint,
    failed_count bigint,
    size_bytes bigint,
    is_unfinished boolean,
    is_begun boolean,
    occupied_from timestamptz,
    positioned_at timestamptz,
    idle_from timestamptz,
    dismount_requested_at timestamptz,
    dismounted_at timestamptz,
    occupied_until timestamptz,
    range_from timestamptz,
    range_until timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- A mount begins with its request, which names no drive. If a log has no request, it begins with the first
-- event in the drive.
WITH in_drives AS (
    SELECT
        mounts.*,
        coalesce(
            mounts.mounted_at,
            least(mounts.positioned_at, mounts.transferred_at),
            mounts.dismount_requested_at,
            mounts.dismounted_at
        ) AS in_drive_at,
        ranges.range_from,
        ranges.range_until
    FROM mart.mounts
    -- Whole days by the clock of each archive. `until` itself is not in the range. (A join to mart.archives
    -- would let the planner expect a single mount.)
    CROSS JOIN
        LATERAL (
            VALUES
            (
                date_trunc(
                    'day', coalesce(selected_mounts.since, timestamptz '-infinity'), mounts.timezone
                ),
                date_add(
                    date_trunc(
                        'day',
                        coalesce(selected_mounts.until, timestamptz 'infinity') - interval '1 microsecond',
                        mounts.timezone
                    ),
                    interval '1 day',
                    mounts.timezone
                )
            )
        ) AS ranges (range_from, range_until)
    WHERE
        mounts.drive IS NOT NULL
        AND (selected_mounts.archive IS NULL OR mounts.archive = selected_mounts.archive)
        AND (selected_mounts.drive IS NULL OR mounts.drive = selected_mounts.drive)
        -- Prunes partitions. Two days are more than the longest local day. A cartridge can stay in a drive
        -- for weeks, so `until` prunes none, but an index finds the few mounts of later months.
        AND mounts.last_event_at
        >= coalesce(selected_mounts.since, timestamptz '-infinity') - interval '2 days'
        AND mounts.first_event_at
        < coalesce(selected_mounts.until, timestamptz 'infinity') + interval '2 days'
        AND mounts.last_event_at >= ranges.range_from
        -- Later mounts do not delay earlier ones.
        AND mounts.first_event_at < ranges.range_until
        AND coalesce(selected_mounts.since, timestamptz '-infinity')
        < coalesce(selected_mounts.until, timestamptz 'infinity')
),

-- A request is often made while another cartridge is still in the drive. It then occupies the drive from
-- when that one has left, so that no second is counted twice.
in_order AS (
    SELECT
        in_drives.*,
        least(
            greatest(
                in_drives.first_event_at,
                max(in_drives.last_event_at) OVER (
                    PARTITION BY in_drives.drive, in_drives.archive
                    ORDER BY in_drives.in_drive_at, in_drives.mount_id
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                )
            ),
            in_drives.last_event_at
        ) AS occupied_from
    FROM in_drives
)

SELECT
    in_order.mount_id,
    in_order.archive,
    in_order.kind,
    in_order.timezone,
    in_order.interface,
    in_order.location,
    in_order.tape_type,
    in_order.drive,
    in_order.vsn,
    in_order.requester,

    in_order.transfer_count,
    in_order.failed_count,
    in_order.size_bytes,

    in_order.is_unfinished,
    in_order.occupied_from >= in_order.range_from AS is_begun,

    in_order.occupied_from,
    in_order.positioned_at,
    -- Not if its first file was positioned later: then it is not known when that one was read or written.
    CASE WHEN in_order.positioned_at > in_order.transferred_at THEN NULL ELSE in_order.transferred_at END
        AS idle_from,
    in_order.dismount_requested_at,
    in_order.dismounted_at,
    in_order.last_event_at AS occupied_until,
    -- Infinite times would be an error in Python, and least and greatest ignore nulls.
    CASE WHEN selected_mounts.since IS NOT NULL THEN in_order.range_from END AS range_from,
    CASE WHEN selected_mounts.until IS NOT NULL THEN in_order.range_until END AS range_until
FROM in_order
WHERE
    in_order.occupied_from < in_order.range_until
    AND (selected_mounts.interface IS NULL OR in_order.interface = selected_mounts.interface)
    AND (selected_mounts.location IS NULL OR in_order.location = selected_mounts.location)
    AND (selected_mounts.tape_type IS NULL OR in_order.tape_type = selected_mounts.tape_type)

$function$;
