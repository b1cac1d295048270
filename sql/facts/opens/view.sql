CREATE VIEW mart.opens AS

WITH opens AS (
    SELECT * FROM core.opens
),

archives AS (
    SELECT * FROM core.archives
),

-- If two logs report the same requests, only one of them is counted.
sources AS (
    SELECT * FROM ledger.sources
    WHERE is_counted
),

hosts AS (
    SELECT * FROM core.hosts
)

SELECT
    opens.id AS open_id,
    archives.name AS archive,
    archives.kind,
    sources.name AS source,
    opens.interface,
    opens.direction,
    opens.operation,
    opens.user_id,
    hosts.name AS client,
    opens.class_of_service,
    opens.file_key,
    opens.server,
    opens.status_code,

    opens.open_s,

    opens.is_failed,
    opens.is_cached,
    opens.is_time_ambiguous,
    opens.is_time_of_day_unknown,

    opens.opened_at
FROM opens
INNER JOIN archives ON opens.archive_id = archives.id
INNER JOIN sources ON opens.source_id = sources.id
LEFT JOIN hosts ON opens.host_id = hosts.id;
