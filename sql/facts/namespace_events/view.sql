CREATE VIEW mart.namespace_events AS

WITH namespace_events AS (
    SELECT * FROM core.namespace_events
),

archives AS (
    SELECT * FROM core.archives
),

-- If two logs report the same events, only one of them is counted.
sources AS (
    SELECT * FROM ledger.sources
    WHERE is_counted
),

hosts AS (
    SELECT * FROM core.hosts
)

SELECT
    namespace_events.id AS namespace_event_id,
    archives.name AS archive,
    archives.kind,
    sources.name AS source,
    namespace_events.interface,
    -- In every view, `kind` is the kind of the archive.
    namespace_events.kind AS event_kind,
    namespace_events.operation,
    namespace_events.user_id,
    hosts.name AS client,
    namespace_events.class_of_service,
    namespace_events.file_key,
    namespace_events.new_file_key,
    namespace_events.status_code,

    namespace_events.size_bytes,
    namespace_events.duration_s,

    namespace_events.is_failed,
    namespace_events.is_time_ambiguous,
    namespace_events.is_time_of_day_unknown,

    namespace_events.happened_at
FROM namespace_events
INNER JOIN archives ON namespace_events.archive_id = archives.id
INNER JOIN sources ON namespace_events.source_id = sources.id
LEFT JOIN hosts ON namespace_events.host_id = hosts.id;
