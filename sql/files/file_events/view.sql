CREATE VIEW mart.file_events AS

WITH archives AS NOT MATERIALIZED (
    SELECT * FROM core.archives
),

-- If two logs report the same events, only one of them is counted.
sources AS NOT MATERIALIZED (
    SELECT * FROM ledger.sources
    WHERE is_counted
),

hosts AS (
    SELECT * FROM core.hosts
),

-- A failed operation changed no file, and a read or write within a file neither creates nor fetches it. (The
-- joins are in both halves, because the planner has no statistics for the union of the halves. It would
-- expect few events, and choose plans that compare every event with every other.)
events AS (
    SELECT
        transfers.id,
        archives.name AS archive,
        archives.kind,
        sources.name AS source,
        transfers.log_file_id,
        transfers.line_number,
        transfers.interface,
        transfers.direction AS event,
        transfers.user_id,
        transfers.host_id,
        transfers.class_of_service,
        transfers.file_key,
        NULL::bigint AS new_file_key,
        transfers.size_bytes,
        transfers.is_size_saturated,
        transfers.ended_at AS happened_at
    FROM core.transfers
    INNER JOIN archives ON transfers.archive_id = archives.id
    INNER JOIN sources ON transfers.source_id = sources.id
    WHERE NOT transfers.is_failed AND NOT sources.is_of_parts
    UNION ALL
    SELECT
        namespace_events.id,
        archives.name AS archive,
        archives.kind,
        sources.name AS source,
        namespace_events.log_file_id,
        namespace_events.line_number,
        namespace_events.interface,
        namespace_events.kind AS event,
        namespace_events.user_id,
        namespace_events.host_id,
        namespace_events.class_of_service,
        namespace_events.file_key,
        namespace_events.new_file_key,
        namespace_events.size_bytes,
        FALSE AS is_size_saturated,
        namespace_events.happened_at
    FROM core.namespace_events
    INNER JOIN archives ON namespace_events.archive_id = archives.id
    INNER JOIN sources ON namespace_events.source_id = sources.id
    WHERE NOT namespace_events.is_failed
)

SELECT
    events.id AS event_id,
    events.archive,
    events.kind,
    events.source,
    events.log_file_id,
    events.line_number,
    events.interface,
    events.event,
    events.user_id,
    hosts.name AS client,
    events.class_of_service,
    events.file_key,
    events.new_file_key,

    events.size_bytes,

    events.is_size_saturated,

    events.happened_at
FROM events
LEFT JOIN hosts ON events.host_id = hosts.id;
