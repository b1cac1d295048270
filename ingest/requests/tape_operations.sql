-- Derives the tape operations of one archive that overlap [since, until] from the tape events of its counted
-- sources.
--
-- An operation stages or migrates one file (capability, copy, fragment) for a client or the repacker. Its
-- steps are: received, mount requested (unless its cartridge is mounted), positioned, transferred. A new
-- operation begins when a step is repeated or an earlier one follows, and after `step_limit` without events,
-- so operations, like mounts, depend only on neighbouring events. An operation's mount is looked up in
-- core.mounts, which is built first.
INSERT INTO core.tape_operations (
    archive_id, first_event_at, last_event_at, operation_id, mount_id, task, requester, capability_key,
    class_of_service, copy_number, fragment_number, block_offset, received_at, mount_requested_at, positioned_at,
    transferred_at, is_failed, interface, vsn, tape_type, drive, location, size_bytes, is_time_ambiguous
)

WITH events AS (
    SELECT
        tape_events.*,
        CASE tape_events.kind
            WHEN 'received' THEN 1
            WHEN 'mount requested' THEN 2
            WHEN 'positioned' THEN 3
            ELSE 4
        END AS step
    FROM core.tape_events
    INNER JOIN ledger.sources ON tape_events.source_id = sources.id
    WHERE
        tape_events.archive_id = %(archive_id)s
        AND sources.is_counted
        AND tape_events.happened_at >= %(read_since)s
        AND tape_events.happened_at <= %(read_until)s
        AND tape_events.kind IN ('received', 'mount requested', 'positioned', 'transferred')
        AND num_nulls(tape_events.task, tape_events.requester, tape_events.capability_key) = 0
),

in_order AS (
    SELECT
        events.*,
        lag(events.step) OVER (one_file) AS last_step,
        lag(events.happened_at) OVER (one_file) AS last_at
    FROM events
    WINDOW
        one_file AS (
            PARTITION BY
                events.task,
                events.requester,
                events.capability_key,
                events.copy_number,
                events.fragment_number
            ORDER BY events.happened_at, events.step, events.line_hash, events.occurrence
        )
),

numbered AS (
    SELECT
        in_order.*,
        count(*) FILTER (
            WHERE
            in_order.last_at IS NULL
            OR in_order.step <= in_order.last_step
            OR in_order.happened_at - in_order.last_at > %(step_limit)s
        ) OVER (
            PARTITION BY
                in_order.task,
                in_order.requester,
                in_order.capability_key,
                in_order.copy_number,
                in_order.fragment_number
            ORDER BY in_order.happened_at, in_order.step, in_order.line_hash, in_order.occurrence
        ) AS operation_number
    FROM in_order
),

-- No step occurs twice in an operation, so its events can be ordered by their steps.
operations AS (
    SELECT
        numbered.archive_id,
        numbered.task,
        numbered.requester,
        numbered.capability_key,
        numbered.copy_number,
        numbered.fragment_number,
        min(numbered.happened_at) AS first_event_at,
        max(numbered.happened_at) AS last_event_at,
        (array_agg(numbered.id ORDER BY numbered.step))[1] AS operation_id,
        min(numbered.happened_at) FILTER (WHERE numbered.kind = 'received') AS received_at,
        min(numbered.happened_at) FILTER (WHERE numbered.kind = 'mount requested') AS mount_requested_at,
        min(numbered.happened_at) FILTER (WHERE numbered.kind = 'positioned') AS positioned_at,
        min(numbered.happened_at) FILTER (WHERE numbered.kind = 'transferred') AS transferred_at,
        bool_or(numbered.is_failed) FILTER (WHERE numbered.kind = 'transferred') AS is_failed,
        max(numbered.interface) AS interface,
        -- Each value comes from the last step that has one.
        (
            array_agg(numbered.class_of_service ORDER BY numbered.step DESC)
            FILTER (WHERE numbered.class_of_service IS NOT NULL)
        )[1] AS class_of_service,
        (
            array_agg(numbered.block_offset ORDER BY numbered.step DESC)
            FILTER (WHERE numbered.block_offset IS NOT NULL)
        )[1] AS block_offset,
        (array_agg(numbered.vsn ORDER BY numbered.step DESC) FILTER (WHERE numbered.vsn IS NOT NULL))[1] AS vsn,
        (
            array_agg(numbered.tape_type ORDER BY numbered.step DESC)
            FILTER (WHERE numbered.tape_type IS NOT NULL)
        )[1] AS tape_type,
        (
            array_agg(numbered.drive ORDER BY numbered.step DESC) FILTER (WHERE numbered.drive IS NOT NULL)
        )[1] AS drive,
        (
            array_agg(numbered.location ORDER BY numbered.step DESC)
            FILTER (WHERE numbered.location IS NOT NULL)
        )[1] AS location,
        (
            array_agg(numbered.size_bytes ORDER BY numbered.step DESC)
            FILTER (WHERE numbered.size_bytes IS NOT NULL)
        )[1] AS size_bytes,
        bool_or(numbered.is_time_ambiguous) AS is_time_ambiguous
    FROM numbered
    GROUP BY
        numbered.archive_id,
        numbered.task,
        numbered.requester,
        numbered.capability_key,
        numbered.copy_number,
        numbered.fragment_number,
        numbered.operation_number
),

asked_for AS (
    SELECT * FROM operations
    WHERE operations.last_event_at >= %(since)s AND operations.first_event_at <= %(until)s
),

-- An operation that reached a drive belongs to the mount in that drive at that time. Any other operation
-- belongs to the mount that was requested for it.
of_mounts AS (
    SELECT DISTINCT ON (asked_for.operation_id)
        asked_for.operation_id,
        mounts.mount_id
    FROM asked_for
    INNER JOIN core.mounts
        ON
            asked_for.archive_id = mounts.archive_id
            AND asked_for.vsn = mounts.vsn
            AND asked_for.first_event_at <= mounts.last_event_at
            AND asked_for.last_event_at >= mounts.first_event_at
    WHERE
        (
            asked_for.drive = mounts.drive
            AND coalesce(asked_for.transferred_at, asked_for.positioned_at)
            BETWEEN mounts.first_event_at AND mounts.last_event_at
        )
        OR (asked_for.drive IS NULL AND asked_for.mount_requested_at = mounts.mount_requested_at)
    ORDER BY asked_for.operation_id, mounts.first_event_at DESC
)

SELECT
    asked_for.archive_id,
    asked_for.first_event_at,
    asked_for.last_event_at,
    asked_for.operation_id,
    of_mounts.mount_id,
    asked_for.task,
    asked_for.requester,
    asked_for.capability_key,
    asked_for.class_of_service,
    asked_for.copy_number,
    asked_for.fragment_number,
    asked_for.block_offset,
    asked_for.received_at,
    asked_for.mount_requested_at,
    asked_for.positioned_at,
    asked_for.transferred_at,
    asked_for.is_failed,
    asked_for.interface,
    asked_for.vsn,
    asked_for.tape_type,
    asked_for.drive,
    asked_for.location,
    asked_for.size_bytes,
    asked_for.is_time_ambiguous
FROM asked_for
LEFT JOIN of_mounts ON asked_for.operation_id = of_mounts.operation_id
