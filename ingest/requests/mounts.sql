-- Derives the mounts of one archive that overlap [since, until] from the tape events of its counted sources.
--
-- Events in a drive name the cartridge (VSN) and the drive: mounted, positioned, transferred (repeatedly),
-- dismount requested, dismounted. The cartridge's stay in the drive ends with the last of these. A new stay begins
-- when a step is repeated or an earlier one follows, when a mount was requested between two files, and after
-- `step_limit` without events. A mount request names no drive. It belongs to the next stay of its cartridge,
-- if nothing comes in between. Whether two events belong to the same mount therefore depends only on the
-- events between them, not on the order in which files were read or on the requested range, as long as all
-- events of a mount are read (`ingest/requests/mounts.py`).
INSERT INTO core.mounts (
    archive_id, first_event_at, last_event_at, mount_id, received_at, mount_requested_at, mounted_at, positioned_at,
    transferred_at, dismount_requested_at, dismounted_at, transfer_count, failed_count, repacker_count,
    transfer_s, requester, interface, vsn, tape_type, drive, location, size_bytes, is_time_ambiguous
)

WITH events AS MATERIALIZED (
    SELECT
        tape_events.*,
        CASE tape_events.kind
            WHEN 'received' THEN 0
            WHEN 'mount requested' THEN 1
            WHEN 'mounted' THEN 2
            WHEN 'positioned' THEN 3
            WHEN 'transferred' THEN 3
            WHEN 'dismount requested' THEN 4
            ELSE 5
        END AS step
    FROM core.tape_events
    INNER JOIN ledger.sources ON tape_events.source_id = sources.id
    WHERE
        tape_events.archive_id = %(archive_id)s
        AND sources.is_counted
        AND tape_events.happened_at >= %(read_since)s
        AND tape_events.happened_at <= %(read_until)s
),

-- Adds to each mount request the time when the request for its file was received, if that is the file's
-- preceding event.
asked AS (
    SELECT
        events.*,
        CASE
            WHEN
                events.kind = 'mount requested'
                AND events.capability_key IS NOT NULL
                AND lag(events.kind) OVER (one_file) = 'received'
                AND events.happened_at - lag(events.happened_at) OVER (one_file) <= %(step_limit)s
                THEN lag(events.happened_at) OVER (one_file)
        END AS received_at,
        CASE
            WHEN events.kind = 'transferred' AND lag(events.kind) OVER (one_file) = 'positioned'
                AND lag(events.vsn) OVER (one_file) = events.vsn
                AND lag(events.drive) OVER (one_file) = events.drive
                AND events.happened_at - lag(events.happened_at) OVER (one_file) <= %(step_limit)s
                THEN extract(EPOCH FROM events.happened_at - lag(events.happened_at) OVER (one_file))
        END AS transfer_s,
        max(events.happened_at) FILTER (WHERE events.kind = 'mount requested') OVER (
            PARTITION BY events.vsn
            ORDER BY events.happened_at, events.step, events.line_hash, events.occurrence
            ROWS UNBOUNDED PRECEDING
        ) AS last_requested_at
    FROM events
    WINDOW
        one_file AS (
            PARTITION BY
                events.task,
                events.requester,
                events.capability_key,
                events.copy_number,
                events.fragment_number
            ORDER BY
                events.happened_at, events.step, events.kind, events.line_hash, events.occurrence
        )
),

in_drives AS (
    SELECT
        asked.*,
        lag(asked.step) OVER (one_drive) AS last_step,
        lag(asked.happened_at) OVER (one_drive) AS last_at
    FROM asked
    WHERE asked.step >= 2
    WINDOW
        one_drive AS (
            PARTITION BY asked.vsn, asked.drive
            ORDER BY asked.happened_at, asked.step, asked.kind, asked.line_hash, asked.occurrence
        )
),

numbered AS (
    SELECT
        in_drives.*,
        count(*) FILTER (
            WHERE
            in_drives.last_at IS NULL
            OR in_drives.happened_at - in_drives.last_at > %(step_limit)s
            OR in_drives.step < in_drives.last_step
            OR in_drives.step = in_drives.last_step AND in_drives.step != 3
            OR in_drives.step = 3 AND in_drives.last_requested_at > in_drives.last_at
        ) OVER (
            PARTITION BY in_drives.vsn, in_drives.drive
            ORDER BY
                in_drives.happened_at,
                in_drives.step,
                in_drives.kind,
                in_drives.line_hash,
                in_drives.occurrence
        ) AS stay_number
    FROM in_drives
),

stays AS (
    SELECT
        numbered.vsn,
        numbered.drive,
        (
            array_agg(
                numbered.id
                ORDER BY
                    numbered.happened_at, numbered.step, numbered.kind, numbered.line_hash, numbered.occurrence
            )
        )[1] AS first_id,
        min(numbered.happened_at) AS first_event_at,
        max(numbered.happened_at) AS last_event_at,
        min(numbered.happened_at) FILTER (WHERE numbered.kind = 'mounted') AS mounted_at,
        min(numbered.happened_at) FILTER (WHERE numbered.kind = 'positioned') AS positioned_at,
        max(numbered.happened_at) FILTER (WHERE numbered.kind = 'transferred') AS transferred_at,
        min(numbered.happened_at) FILTER (
            WHERE numbered.kind = 'dismount requested'
        ) AS dismount_requested_at,
        min(numbered.happened_at) FILTER (WHERE numbered.kind = 'dismounted') AS dismounted_at,
        count(*) FILTER (WHERE numbered.kind = 'transferred') AS transfer_count,
        count(*) FILTER (WHERE numbered.kind = 'transferred' AND numbered.is_failed) AS failed_count,
        count(*) FILTER (
            WHERE numbered.kind = 'transferred' AND numbered.requester = 'repacker'
        ) AS repacker_count,
        sum(numbered.transfer_s)::double precision AS transfer_s,
        sum(numbered.size_bytes) FILTER (
            WHERE numbered.kind = 'transferred' AND numbered.is_failed IS NOT TRUE
        )::bigint AS size_bytes,
        (
            array_agg(
                numbered.requester
                ORDER BY
                    numbered.happened_at, numbered.step, numbered.kind, numbered.line_hash, numbered.occurrence
            ) FILTER (WHERE numbered.requester IS NOT NULL)
        )[1] AS requester,
        max(numbered.interface) AS interface,
        max(numbered.tape_type) AS tape_type,
        max(numbered.location) AS location,
        bool_or(numbered.is_time_ambiguous) AS is_time_ambiguous
    FROM numbered
    GROUP BY numbered.vsn, numbered.drive, numbered.stay_number
),

-- Mount requests and stays of each cartridge, in order.
in_order AS (
    SELECT
        merged.*,
        lag(merged.is_request) OVER (one_cartridge) AS is_after_request,
        lag(merged.id) OVER (one_cartridge) AS last_id,
        lead(merged.is_request) OVER (one_cartridge) AS is_before_request,
        merged.at - lag(merged.at) OVER (one_cartridge) AS since_last,
        lead(merged.at) OVER (one_cartridge) - merged.at AS until_next
    FROM (
        SELECT
            asked.vsn,
            asked.id,
            asked.happened_at AS at,
            TRUE AS is_request,
            asked.line_hash,
            asked.occurrence,
            NULL AS drive
        FROM asked
        WHERE asked.kind = 'mount requested'
        UNION ALL
        SELECT
            stays.vsn,
            stays.first_id AS id,
            stays.first_event_at AS at,
            FALSE AS is_request,
            NULL AS line_hash,
            NULL AS occurrence,
            stays.drive
        FROM stays
    ) AS merged
    WINDOW
        one_cartridge AS (
            PARTITION BY merged.vsn
            ORDER BY merged.at, merged.is_request DESC, merged.line_hash, merged.occurrence, merged.drive
        )
),

pairs AS (
    SELECT
        in_order.id AS first_id,
        CASE WHEN in_order.is_after_request AND in_order.since_last <= %(step_limit)s THEN in_order.last_id END
        AS request_id
    FROM in_order
    WHERE NOT in_order.is_request
    UNION ALL
    SELECT
        NULL AS first_id,
        in_order.id AS request_id
    FROM in_order
    WHERE
        in_order.is_request
        AND coalesce(in_order.is_before_request OR in_order.until_next > %(step_limit)s, TRUE)
),

joined AS (
    SELECT
        %(archive_id)s AS archive_id,
        coalesce(requested.happened_at, stays.first_event_at) AS first_event_at,
        coalesce(stays.last_event_at, requested.happened_at) AS last_event_at,
        coalesce(requested.id, stays.first_id) AS mount_id,
        requested.received_at,
        requested.happened_at AS mount_requested_at,
        stays.mounted_at,
        stays.positioned_at,
        stays.transferred_at,
        stays.dismount_requested_at,
        stays.dismounted_at,
        coalesce(stays.transfer_count, 0) AS transfer_count,
        coalesce(stays.failed_count, 0) AS failed_count,
        coalesce(stays.repacker_count, 0) AS repacker_count,
        stays.transfer_s,
        coalesce(requested.requester, stays.requester) AS requester,
        coalesce(requested.interface, stays.interface) AS interface,
        coalesce(requested.vsn, stays.vsn) AS vsn,
        coalesce(stays.tape_type, requested.tape_type) AS tape_type,
        stays.drive,
        coalesce(stays.location, requested.location) AS location,
        stays.size_bytes,
        coalesce(TRUE IN (requested.is_time_ambiguous, stays.is_time_ambiguous), FALSE) AS is_time_ambiguous
    FROM pairs
    LEFT JOIN stays ON pairs.first_id = stays.first_id
    LEFT JOIN asked AS requested ON pairs.request_id = requested.id
)

SELECT *
FROM joined
WHERE joined.last_event_at >= %(since)s AND joined.first_event_at <= %(until)s
