CREATE VIEW mart.file_events AS

WITH archives AS (
    SELECT * FROM core.archives
),

-- Where two logs tell of the same events only one of them is counted.
sources AS (
    SELECT * FROM ledger.sources
    WHERE is_counted
),

hosts AS (
    SELECT * FROM core.hosts
),

-- What failed has changed no file.
events AS (
    SELECT
        transfers.id,
        transfers.archive_id,
        transfers.source_id,
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
    WHERE NOT transfers.is_failed
    UNION ALL
    SELECT
        namespace_events.id,
        namespace_events.archive_id,
        namespace_events.source_id,
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
    WHERE NOT namespace_events.is_failed
)

SELECT
    events.id AS event_id,
    archives.name AS archive,
    archives.kind,
    sources.name AS source,
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
INNER JOIN archives ON events.archive_id = archives.id
INNER JOIN sources ON events.source_id = sources.id
LEFT JOIN hosts ON events.host_id = hosts.id;
