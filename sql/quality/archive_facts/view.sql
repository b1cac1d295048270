CREATE VIEW mart.archive_facts AS

WITH archives AS (
    SELECT * FROM core.archives
),

sources AS (
    SELECT * FROM ledger.sources
    WHERE is_counted
),

-- The same sources as in mart.stages: sources that are not counted are included where no counted log of their
-- format has stages.
stage_sources AS (
    SELECT * FROM ledger.sources
    WHERE
        is_counted
        OR NOT EXISTS (
            SELECT FROM ledger.sources AS counted
            WHERE
                counted.is_counted
                AND counted.archive_id = sources.archive_id
                AND counted.format = sources.format
        )
),

-- The same sources as in mart.transfers: failed transfers of uncounted sources may be included.
transfer_sources AS (
    SELECT * FROM ledger.sources
    WHERE is_counted OR failures_as IS NOT NULL
),

-- One pass over all transfers, because all of them must be read anyway to find that a fact is missing.
transfers AS (
    SELECT
        transfers.archive_id,
        bool_or(transfers.size_bytes IS NOT NULL) AS has_sizes,
        bool_or(transfers.duration_s IS NOT NULL) AS has_durations,
        bool_or(transfers.user_id IS NOT NULL) AS has_users,
        bool_or(transfers.host_id IS NOT NULL) AS has_clients,
        bool_or(NOT transfer_sources.is_of_parts) AS has_whole_files,
        -- Views of files need transfers of whole files if there are any.
        CASE
            WHEN bool_or(NOT transfer_sources.is_of_parts)
                THEN bool_or(transfers.file_key IS NOT NULL AND NOT transfer_sources.is_of_parts)
            ELSE bool_or(transfers.file_key IS NOT NULL)
        END AS has_paths,
        bool_or(transfers.open_s IS NOT NULL) AS has_open_times,
        bool_or(transfers.class_of_service IS NOT NULL) AS has_classes_of_service,
        bool_or(transfers.account IS NOT NULL) AS has_accounts
    FROM core.transfers
    INNER JOIN transfer_sources ON transfers.source_id = transfer_sources.id
    WHERE transfer_sources.is_counted OR transfers.is_failed
    GROUP BY transfers.archive_id
),

-- A request has the facts of each of its lines, including lines of sources that are not counted.
requests AS (
    SELECT
        requests.archive_id,
        bool_or(requests.user_id IS NOT NULL) AS has_users,
        bool_or(requests.open_s IS NOT NULL) AS has_open_times,
        bool_or(requests.class_of_service IS NOT NULL) AS has_classes_of_service,
        bool_or(requests.is_cached IS NOT NULL) AS has_hits
    FROM core.requests
    WHERE requests.is_counted
    GROUP BY requests.archive_id
),

-- In the other tables, the first few rows usually show whether a fact exists, and few archives have many
-- rows.
opens AS (
    SELECT DISTINCT opens.archive_id
    FROM core.opens
    INNER JOIN sources ON opens.source_id = sources.id
),

namespace_events AS (
    SELECT
        namespace_events.archive_id,
        bool_or(namespace_events.kind = 'delete') AS has_deletes,
        bool_or(namespace_events.kind = 'rename') AS has_renames,
        bool_or(namespace_events.kind = 'copy') AS has_copies,
        bool_or(namespace_events.file_key IS NOT NULL) AS has_paths
    FROM core.namespace_events
    INNER JOIN sources ON namespace_events.source_id = sources.id
    GROUP BY namespace_events.archive_id
),

jobs AS (
    SELECT DISTINCT unitree_jobs.archive_id
    FROM core.unitree_jobs
    INNER JOIN sources ON unitree_jobs.source_id = sources.id
),

stages AS (
    SELECT DISTINCT stages.archive_id
    FROM core.stages
    INNER JOIN stage_sources ON stages.source_id = stage_sources.id
),

starts AS (
    SELECT DISTINCT transfer_starts.archive_id
    FROM core.transfer_starts
    INNER JOIN sources ON transfer_starts.source_id = sources.id
),

migrations AS (
    SELECT DISTINCT migrations.archive_id
    FROM core.migrations
    INNER JOIN sources ON migrations.source_id = sources.id
),

srb_sessions AS (
    SELECT DISTINCT srb_sessions.archive_id
    FROM core.srb_sessions
    INNER JOIN sources ON srb_sessions.source_id = sources.id
),

tape_events AS (
    SELECT DISTINCT tape_events.archive_id
    FROM core.tape_events
    INNER JOIN sources ON tape_events.source_id = sources.id
),

daily_reports AS (
    SELECT DISTINCT daily_reports.archive_id
    FROM core.daily_reports
    INNER JOIN sources ON daily_reports.source_id = sources.id
),

-- Names from all sources, as in mart.user_names.
users AS (
    SELECT DISTINCT archive_id FROM core.users
),

activity AS (
    SELECT DISTINCT archive_id FROM core.activity_cells
),

reporting AS (
    SELECT DISTINCT source_id FROM core.daily_reports
),

-- A daily report covers a day, so nothing in it happened at a particular time.
lines AS (
    SELECT
        sources.archive_id,
        max(log_files.first_event_at) FILTER (WHERE reporting.source_id IS NULL) AS first_event_at
    FROM ledger.log_files
    INNER JOIN ledger.sources ON log_files.source_id = sources.id
    LEFT JOIN reporting ON sources.id = reporting.source_id
    GROUP BY sources.archive_id
)

SELECT
    archives.name AS archive,
    archives.kind,
    facts.fact,

    coalesce(facts.is_held, FALSE) AS is_held
FROM archives
LEFT JOIN transfers ON archives.id = transfers.archive_id
LEFT JOIN requests ON archives.id = requests.archive_id
LEFT JOIN opens ON archives.id = opens.archive_id
LEFT JOIN namespace_events ON archives.id = namespace_events.archive_id
LEFT JOIN jobs ON archives.id = jobs.archive_id
LEFT JOIN stages ON archives.id = stages.archive_id
LEFT JOIN starts ON archives.id = starts.archive_id
LEFT JOIN migrations ON archives.id = migrations.archive_id
LEFT JOIN srb_sessions ON archives.id = srb_sessions.archive_id
LEFT JOIN tape_events ON archives.id = tape_events.archive_id
LEFT JOIN daily_reports ON archives.id = daily_reports.archive_id
LEFT JOIN users ON archives.id = users.archive_id
LEFT JOIN activity ON archives.id = activity.archive_id
LEFT JOIN lines ON archives.id = lines.archive_id
CROSS JOIN LATERAL (
    VALUES
    ('lines', lines.archive_id IS NOT NULL),
    ('events', lines.first_event_at IS NOT NULL),
    ('activity', activity.archive_id IS NOT NULL),
    ('transfers', transfers.archive_id IS NOT NULL),
    ('whole_files', transfers.has_whole_files),
    ('sizes', transfers.has_sizes),
    ('durations', transfers.has_durations),
    ('users', coalesce(transfers.has_users, FALSE) OR coalesce(requests.has_users, FALSE)),
    ('users_of_transfers', transfers.has_users),
    ('user_names', users.archive_id IS NOT NULL),
    ('clients', transfers.has_clients),
    ('paths', coalesce(transfers.has_paths, FALSE) OR coalesce(namespace_events.has_paths, FALSE)),
    ('open_times', coalesce(transfers.has_open_times, FALSE) OR coalesce(requests.has_open_times, FALSE)),
    ('open_times_of_transfers', transfers.has_open_times),
    (
        'classes_of_service',
        coalesce(transfers.has_classes_of_service, FALSE)
        OR coalesce(requests.has_classes_of_service, FALSE)
    ),
    ('classes_of_service_of_transfers', transfers.has_classes_of_service),
    ('accounts', transfers.has_accounts),
    ('opens', opens.archive_id IS NOT NULL),
    ('deletes', namespace_events.has_deletes),
    ('renames', namespace_events.has_renames),
    ('copies', namespace_events.has_copies),
    ('jobs', jobs.archive_id IS NOT NULL),
    ('stages', stages.archive_id IS NOT NULL),
    ('migrations', migrations.archive_id IS NOT NULL),
    ('starts', starts.archive_id IS NOT NULL),
    ('hits', requests.has_hits),
    ('tape_events', tape_events.archive_id IS NOT NULL),
    ('srb_sessions', srb_sessions.archive_id IS NOT NULL),
    ('daily_reports', daily_reports.archive_id IS NOT NULL)
) AS facts (fact, is_held);
