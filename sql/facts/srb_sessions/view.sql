CREATE VIEW mart.srb_sessions AS

WITH srb_sessions AS (
    SELECT * FROM core.srb_sessions
),

archives AS (
    SELECT * FROM core.archives
),

-- If two logs report the same sessions, only one of them is counted.
sources AS (
    SELECT * FROM ledger.sources
    WHERE is_counted
),

hosts AS (
    SELECT * FROM core.hosts
)

SELECT
    srb_sessions.id AS srb_session_id,
    archives.name AS archive,
    archives.kind,
    sources.name AS source,
    srb_sessions.interface,
    srb_sessions.open_type,
    srb_sessions.storage_type,
    -- How the program used the file; unknown if the log does not count calls.
    CASE
        WHEN srb_sessions.read_count > 0 AND srb_sessions.write_count > 0 THEN 'reads and writes'
        WHEN srb_sessions.read_count > 0 AND srb_sessions.write_count = 0 THEN 'reads'
        WHEN srb_sessions.read_count = 0 AND srb_sessions.write_count > 0 THEN 'writes'
        WHEN srb_sessions.read_count = 0 AND srb_sessions.write_count = 0 THEN 'nothing'
    END AS use,
    srb_sessions.user_id,
    hosts.name AS client,
    srb_sessions.file_key,

    srb_sessions.read_count,
    srb_sessions.read_bytes,
    srb_sessions.write_count,
    srb_sessions.written_bytes,
    srb_sessions.seek_count,
    srb_sessions.read_bytes / nullif(srb_sessions.read_count, 0)::double precision AS bytes_per_read,
    srb_sessions.written_bytes / nullif(srb_sessions.write_count, 0)::double precision AS bytes_per_write,
    srb_sessions.open_s,
    srb_sessions.session_s,

    srb_sessions.is_failed,
    srb_sessions.is_time_ambiguous,
    srb_sessions.is_time_of_day_unknown,

    srb_sessions.closed_at - make_interval(secs => srb_sessions.session_s) AS opened_at,
    srb_sessions.closed_at
FROM srb_sessions
INNER JOIN archives ON srb_sessions.archive_id = archives.id
INNER JOIN sources ON srb_sessions.source_id = sources.id
LEFT JOIN hosts ON srb_sessions.host_id = hosts.id;
