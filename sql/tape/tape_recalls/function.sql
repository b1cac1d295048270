CREATE FUNCTION mart.tape_recalls(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    timezone text,
    operation_id bigint,
    mount_id bigint,
    interface text,
    class_of_service text,
    vsn text,
    tape_type text,
    size_bytes bigint,
    queue_s double precision,
    mount_s double precision,
    position_s double precision,
    transfer_s double precision,
    is_last boolean,
    is_failed boolean,
    asked_at timestamptz,
    received_at timestamptz,
    readable_at timestamptz,
    ended_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- The lines of one recall can be days apart, so operations around the range are read, too. A recall with a
-- request in the range that ends after it has its next operation within four days.
WITH operations AS (
    SELECT
        tape_operations.*,
        lag(tape_operations.transferred_at) OVER one_file AS last_transferred_at,
        lag(tape_operations.is_failed) OVER one_file AS is_last_failed,
        lag(tape_operations.last_event_at) OVER one_file AS last_at
    FROM mart.tape_operations
    WHERE
        tape_operations.task = 'stage'
        AND tape_operations.requester = 'client'
        AND (tape_recalls.archive IS NULL OR tape_operations.archive = tape_recalls.archive)
        AND tape_operations.last_event_at >= coalesce(
            tape_recalls.since - interval '7 days', timestamptz '-infinity'
        )
        AND tape_operations.last_event_at < coalesce(
            tape_recalls.until + interval '4 days', timestamptz 'infinity'
        )
        AND (tape_recalls.interface IS NULL OR tape_operations.interface = tape_recalls.interface)
        AND coalesce(tape_recalls.direction, 'get') = 'get'
        -- Tape servers do not know the client.
        AND tape_recalls.client IS NULL
    WINDOW
        one_file AS (
            PARTITION BY
                tape_operations.capability_key,
                tape_operations.copy_number,
                tape_operations.fragment_number,
                tape_operations.archive
            ORDER BY tape_operations.first_event_at, tape_operations.operation_id
        )
),

-- If a file is asked for again before it is read, there is an operation for each request. If reading it fails
-- or is broken off, the tape server tries again, without another request. All of this is one recall. Core
-- separates operations after a day without events, so this does the same.
numbered AS (
    SELECT
        operations.*,
        count(*) FILTER (
            WHERE
            (
                operations.last_transferred_at IS NOT NULL
                AND (operations.is_last_failed IS NOT TRUE OR operations.received_at IS NOT NULL)
            )
            OR operations.first_event_at - operations.last_at > interval '1 day'
        ) OVER (
            PARTITION BY
                operations.capability_key,
                operations.copy_number,
                operations.fragment_number,
                operations.archive
            ORDER BY operations.first_event_at, operations.operation_id
        ) AS recall_number
    FROM operations
),

gathered AS (
    SELECT
        numbered.*,
        min(numbered.received_at) OVER one_recall AS asked_at,
        min(numbered.mount_requested_at) OVER one_recall AS first_mount_requested_at,
        max(numbered.transferred_at) FILTER (WHERE numbered.is_failed IS NOT TRUE) OVER one_recall
            AS readable_at,
        first_value(numbered.is_failed) OVER (
            one_recall ORDER BY numbered.first_event_at DESC, numbered.operation_id DESC
        ) AS is_recall_failed,
        max(numbered.last_event_at) OVER one_recall AS ended_at,
        row_number() OVER (
            one_recall ORDER BY numbered.first_event_at DESC, numbered.operation_id DESC
        ) AS place
    FROM numbered
    WINDOW
        one_recall AS (
            PARTITION BY
                numbered.capability_key,
                numbered.copy_number,
                numbered.fragment_number,
                numbered.archive,
                numbered.recall_number
        )
),

mounts AS (
    SELECT mounts.* FROM mart.mounts
    WHERE
        (tape_recalls.archive IS NULL OR mounts.archive = tape_recalls.archive)
        AND mounts.last_event_at >= coalesce(
            tape_recalls.since - interval '7 days', timestamptz '-infinity'
        )
        -- The mount of an operation does not begin after its last event.
        AND mounts.first_event_at < coalesce(
            tape_recalls.until + interval '4 days', timestamptz 'infinity'
        )
)

SELECT
    gathered.archive,
    gathered.kind,
    gathered.timezone,
    gathered.operation_id,
    gathered.mount_id,
    gathered.interface,
    gathered.class_of_service,
    gathered.vsn,
    gathered.tape_type,

    gathered.size_bytes,
    extract(
        EPOCH FROM coalesce(
            gathered.first_mount_requested_at,
            CASE WHEN mounts.mount_requested_at >= gathered.asked_at THEN mounts.mount_requested_at END
        ) - gathered.asked_at
    )::double precision AS queue_s,
    -- These steps of a mount belong to its first file.
    CASE WHEN gathered.positioned_at = mounts.positioned_at THEN mounts.mount_s END AS mount_s,
    CASE WHEN gathered.positioned_at = mounts.positioned_at THEN mounts.position_s END AS position_s,
    gathered.transfer_s,

    gathered.place = 1 AS is_last,
    gathered.is_recall_failed AS is_failed,

    gathered.asked_at,
    gathered.received_at,
    gathered.readable_at,
    gathered.ended_at
FROM gathered
LEFT JOIN mounts ON gathered.mount_id = mounts.mount_id
WHERE
    gathered.ended_at >= coalesce(tape_recalls.since, timestamptz '-infinity')
    AND gathered.ended_at < coalesce(tape_recalls.until, timestamptz 'infinity')
    AND (tape_recalls.class_of_service IS NULL OR gathered.class_of_service = tape_recalls.class_of_service)

$function$;
