CREATE FUNCTION mart.selected_operations(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    location text DEFAULT NULL,
    tape_type text DEFAULT NULL,
    drive text DEFAULT NULL
) RETURNS TABLE (
    operation_id bigint,
    mount_id bigint,
    archive text,
    timezone text,
    drive text,
    task text,
    size_bytes bigint,
    is_failed boolean,
    is_timed boolean,
    is_saving boolean,
    transferring_from timestamptz,
    transferring_until timestamptz,
    range_from timestamptz,
    range_until timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- A file counts as transferring between the first and the last event of a file in its mount. So it does not
-- if it was positioned in one mount and read in the next.
WITH in_mounts AS (
    SELECT
        operations.operation_id,
        mounts.mount_id,
        mounts.archive,
        mounts.timezone,
        mounts.drive,
        operations.task,
        operations.size_bytes,
        operations.is_failed,
        operations.positioned_at >= mounts.positioned_at
        AND operations.transferred_at <= mounts.idle_from AS is_timed,
        greatest(operations.positioned_at, mounts.occupied_from) AS positioned_at,
        coalesce(operations.positioned_at, operations.transferred_at) AS reached_at,
        operations.transferred_at,
        operations.received_at,
        least(
            greatest(coalesce(operations.transferred_at, operations.positioned_at), mounts.occupied_from),
            mounts.occupied_until
        ) AS known_at,
        mounts.range_from,
        mounts.range_until
    FROM
        mart.selected_mounts(
            archive => selected_operations.archive,
            since => selected_operations.since,
            until => selected_operations.until,
            interface => selected_operations.interface,
            location => selected_operations.location,
            tape_type => selected_operations.tape_type,
            drive => selected_operations.drive
        ) AS mounts
    INNER JOIN mart.tape_operations AS operations ON mounts.mount_id = operations.mount_id
    WHERE
        -- Prunes partitions. The first and the last event of a file are at most three days apart.
        operations.last_event_at
        >= coalesce(selected_operations.since, timestamptz '-infinity') - interval '2 days'
        AND operations.last_event_at
        < coalesce(selected_operations.until, timestamptz 'infinity') + interval '5 days'
        -- A file has the drive of its mount, if its log names one.
        AND (
            selected_operations.drive IS NULL
            OR operations.drive IS NULL
            OR operations.drive = selected_operations.drive
        )
        AND num_nonnulls(operations.positioned_at, operations.transferred_at) > 0
),

-- A tape has one head: if the times of two files overlap, only one of them is transferring.
in_order AS (
    SELECT
        in_mounts.*,
        max(in_mounts.transferred_at) FILTER (WHERE in_mounts.is_timed) OVER (
            PARTITION BY in_mounts.mount_id
            ORDER BY in_mounts.reached_at, in_mounts.operation_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS free_at,
        max(in_mounts.transferred_at) OVER (
            PARTITION BY in_mounts.mount_id
            ORDER BY in_mounts.reached_at, in_mounts.operation_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS idle_from
    FROM in_mounts
),

-- Without both times, the file is at the time that is known.
placed AS (
    SELECT
        in_order.*,
        CASE
            WHEN in_order.is_timed
                THEN least(greatest(in_order.positioned_at, in_order.free_at), in_order.known_at)
            ELSE in_order.known_at
        END AS transferring_from
    FROM in_order
)

SELECT
    placed.operation_id,
    placed.mount_id,
    placed.archive,
    placed.timezone,
    placed.drive,
    placed.task,
    placed.size_bytes,
    placed.is_failed,

    placed.is_timed IS TRUE AS is_timed,
    -- Whatever is read or written in the mount was requested before the request to dismount.
    coalesce(placed.received_at > placed.idle_from, FALSE) AS is_saving,

    placed.transferring_from,
    placed.known_at AS transferring_until,
    placed.range_from,
    placed.range_until
FROM placed
WHERE
    placed.known_at >= coalesce(placed.range_from, timestamptz '-infinity')
    AND placed.transferring_from < coalesce(placed.range_until, timestamptz 'infinity')

$function$;
