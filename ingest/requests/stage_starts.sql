-- Derives the starts of stages of one archive that overlap [since, until], each with its end, from the lines that
-- report that a stage began (or was cancelled) and those that report how it ended.
--
-- The lines of a stage have the same source, file, cartridge and copy. A start belongs to the end that follows it,
-- if no other line of them comes between and not more than `step_limit` passes. So a start whose stage began again
-- has lost its end, and an end that follows another end has lost its start. Whether two lines belong together
-- depends only on the lines between and shortly before them, not on the order in which files were read.
INSERT INTO core.stage_starts (
    archive_id, first_event_at, last_event_at, start_id, cancel_id, stage_id, source_id, interface,
    class_of_service, duration_s, is_failed, is_time_ambiguous, user_id, file_key, vsn, drive, copy_number,
    size_bytes
)

WITH lines AS MATERIALIZED (
    SELECT
        stage_events.id,
        stage_events.kind,
        stage_events.source_id,
        stage_events.line_hash,
        stage_events.occurrence,
        stage_events.interface,
        stage_events.class_of_service,
        NULL::double precision AS duration_s,
        NULL::boolean AS is_failed,
        stage_events.is_time_ambiguous,
        stage_events.user_id,
        stage_events.file_key,
        stage_events.vsn,
        stage_events.drive,
        stage_events.copy_number,
        stage_events.size_bytes,
        stage_events.happened_at
    FROM core.stage_events
    WHERE
        stage_events.archive_id = %(archive_id)s
        AND stage_events.happened_at >= %(read_since)s
        AND stage_events.happened_at <= %(read_until)s
    UNION ALL
    SELECT
        stages.id,
        'staged' AS kind,
        stages.source_id,
        stages.line_hash,
        stages.occurrence,
        stages.interface,
        stages.class_of_service,
        stages.duration_s,
        stages.is_failed,
        stages.is_time_ambiguous,
        stages.user_id,
        stages.file_key,
        stages.vsn,
        stages.drive,
        stages.copy_number,
        stages.size_bytes,
        stages.staged_at AS happened_at
    FROM core.stages
    WHERE
        stages.archive_id = %(archive_id)s
        AND stages.staged_at >= %(read_since)s
        AND stages.staged_at <= %(read_until)s
        AND NOT stages.is_time_of_day_unknown
),

counted AS (
    SELECT
        lines.*,
        lines.kind = 'started' AS is_start,
        count(*) FILTER (WHERE lines.kind = 'started') OVER one_moment
        - count(*) FILTER (WHERE lines.kind != 'started') OVER one_moment AS start_surplus
    FROM lines
    WINDOW
        one_moment AS (
            PARTITION BY
                lines.source_id, lines.file_key, lines.vsn, lines.copy_number, lines.happened_at
        )
),

-- A clock of whole seconds may show a start and an end at the same time. If the stage was under way before, the
-- end comes first, and the stage began again. Otherwise it took less than a second. The stage was under way if
-- there were more starts than ends at the last time at which these were not equally many.
placed AS (
    SELECT
        counted.*,
        2 * row_number() OVER one_moment
        + (
            counted.is_start = coalesce(
                max(counted.happened_at) FILTER (WHERE counted.start_surplus > 0) OVER earlier
                > coalesce(
                    max(counted.happened_at) FILTER (WHERE counted.start_surplus < 0) OVER earlier,
                    timestamptz '-infinity'
                )
                AND counted.happened_at
                - max(counted.happened_at) FILTER (WHERE counted.start_surplus > 0) OVER earlier
                <= %(step_limit)s,
                FALSE
            )
        )::integer AS place
    FROM counted
    WINDOW
        earlier AS (
            PARTITION BY counted.source_id, counted.file_key, counted.vsn, counted.copy_number
            ORDER BY counted.happened_at
            RANGE BETWEEN UNBOUNDED PRECEDING AND interval '1 microsecond' PRECEDING
        ),
        one_moment AS (
            PARTITION BY
                counted.source_id,
                counted.file_key,
                counted.vsn,
                counted.copy_number,
                counted.happened_at,
                counted.is_start
            ORDER BY counted.line_hash, counted.occurrence
        )
),

in_order AS (
    SELECT
        placed.*,
        -- Nothing identifies the stage of a start without a path.
        placed.file_key IS NOT NULL
        AND NOT lead(placed.is_start) OVER one_file
        AND lead(placed.happened_at) OVER one_file - placed.happened_at <= %(step_limit)s AS has_end,
        lead(placed.id) OVER one_file AS end_id,
        lead(placed.kind) OVER one_file AS end_kind,
        lead(placed.interface) OVER one_file AS end_interface,
        lead(placed.class_of_service) OVER one_file AS end_class_of_service,
        lead(placed.drive) OVER one_file AS end_drive,
        lead(placed.size_bytes) OVER one_file AS end_size_bytes,
        lead(placed.duration_s) OVER one_file AS end_duration_s,
        lead(placed.is_failed) OVER one_file AS end_is_failed,
        lead(placed.is_time_ambiguous) OVER one_file AS is_end_ambiguous,
        lead(placed.happened_at) OVER one_file AS ended_at
    FROM placed
    WINDOW
        one_file AS (
            PARTITION BY placed.source_id, placed.file_key, placed.vsn, placed.copy_number
            ORDER BY placed.happened_at, placed.place
        )
),

starts AS (
    SELECT
        %(archive_id)s AS archive_id,
        in_order.happened_at AS first_event_at,
        CASE WHEN in_order.has_end THEN in_order.ended_at ELSE in_order.happened_at END AS last_event_at,
        in_order.id AS start_id,
        CASE WHEN in_order.has_end AND in_order.end_kind = 'cancelled' THEN in_order.end_id END AS cancel_id,
        CASE WHEN in_order.has_end AND in_order.end_kind = 'staged' THEN in_order.end_id END AS stage_id,
        in_order.source_id,
        CASE WHEN in_order.has_end THEN in_order.end_interface ELSE in_order.interface END AS interface,
        CASE WHEN in_order.has_end THEN in_order.end_class_of_service ELSE in_order.class_of_service END
        AS class_of_service,
        CASE
            WHEN in_order.has_end AND in_order.end_duration_s IS NULL
                THEN extract(EPOCH FROM in_order.ended_at - in_order.happened_at)
        END AS duration_s,
        CASE WHEN in_order.has_end THEN in_order.end_is_failed END AS is_failed,
        in_order.is_time_ambiguous OR (in_order.has_end IS TRUE AND in_order.is_end_ambiguous)
        AS is_time_ambiguous,
        in_order.user_id,
        in_order.file_key,
        in_order.vsn,
        coalesce(in_order.drive, CASE WHEN in_order.has_end THEN in_order.end_drive END) AS drive,
        in_order.copy_number,
        coalesce(in_order.size_bytes, CASE WHEN in_order.has_end THEN in_order.end_size_bytes END) AS size_bytes
    FROM in_order
    WHERE in_order.is_start
)

SELECT *
FROM starts
WHERE starts.last_event_at >= %(since)s AND starts.first_event_at <= %(until)s
