CREATE VIEW mart.archive_facts AS

WITH archives AS (
    SELECT * FROM core.archives
),

-- What loads wrote, by table and source. No fact is read.
loaded AS (
    SELECT
        sources.archive_id,
        sources.is_counted,
        sources.failures_as,
        sources.is_of_parts,
        -- The same sources as in mart.stages: sources that are not counted are included where no counted log
        -- of their format has stages.
        sources.is_counted
        OR NOT EXISTS (
            SELECT FROM ledger.sources AS counted
            WHERE
                counted.is_counted
                AND counted.archive_id = sources.archive_id
                AND counted.format = sources.format
        ) AS has_counted_stages,
        loaded_rows.fact_table,
        loaded_rows.filled_columns
    FROM ledger.loaded_rows
    INNER JOIN ledger.sources ON loaded_rows.source_id = sources.id
),

-- The same rows as in mart.transfers: failed transfers of uncounted sources may be included.
counted_transfers AS (
    SELECT
        loaded.archive_id,
        loaded.is_of_parts,
        loaded.filled_columns,
        CASE WHEN loaded.is_counted THEN '' ELSE 'failed ' END AS prefix
    FROM loaded
    WHERE
        loaded.fact_table = 'transfers'
        AND (loaded.is_counted OR (loaded.failures_as IS NOT NULL AND 'failed' = any(loaded.filled_columns)))
),

transfers AS (
    SELECT
        rows.archive_id,
        bool_or(rows.prefix || 'size_bytes' = any(rows.filled_columns)) AS has_sizes,
        bool_or(rows.prefix || 'duration_s' = any(rows.filled_columns)) AS has_durations,
        bool_or(rows.prefix || 'user_id' = any(rows.filled_columns)) AS has_users,
        bool_or(rows.prefix || 'host_id' = any(rows.filled_columns)) AS has_clients,
        bool_or(NOT rows.is_of_parts) AS has_whole_files,
        -- Views of files need transfers of whole files if there are any.
        CASE
            WHEN bool_or(NOT rows.is_of_parts)
                THEN bool_or(rows.prefix || 'file_key' = any(rows.filled_columns) AND NOT rows.is_of_parts)
            ELSE bool_or(rows.prefix || 'file_key' = any(rows.filled_columns))
        END AS has_paths,
        bool_or(rows.prefix || 'open_s' = any(rows.filled_columns)) AS has_open_times,
        bool_or(rows.prefix || 'class_of_service' = any(rows.filled_columns)) AS has_classes_of_service,
        bool_or(rows.prefix || 'account' = any(rows.filled_columns)) AS has_accounts
    FROM counted_transfers AS rows
    GROUP BY rows.archive_id
),

-- A request has the facts of each of its lines, including lines of sources that are not counted. Requests are
-- searched only for what lines have, but counted transfers lack, so mostly one of the first has it.
searched AS (
    SELECT DISTINCT
        loaded.archive_id,
        filled.name
    FROM loaded
    CROSS JOIN LATERAL unnest(loaded.filled_columns) AS filled (name)
    LEFT JOIN transfers ON loaded.archive_id = transfers.archive_id
    WHERE
        loaded.fact_table IN ('transfers', 'opens', 'unitree_jobs', 'transfer_starts')
        AND CASE filled.name
            WHEN 'user_id' THEN transfers.has_users IS NOT TRUE
            WHEN 'open_s' THEN transfers.has_open_times IS NOT TRUE
            WHEN 'class_of_service' THEN transfers.has_classes_of_service IS NOT TRUE
            WHEN 'is_cached' THEN TRUE
        END
),

requests AS (
    SELECT
        searched.archive_id,
        bool_or(searched.name = 'user_id') AS has_users,
        bool_or(searched.name = 'open_s') AS has_open_times,
        bool_or(searched.name = 'class_of_service') AS has_classes_of_service,
        bool_or(searched.name = 'is_cached') AS has_hits
    FROM searched
    CROSS JOIN
        LATERAL (
            SELECT requests.ended_at FROM core.requests
            WHERE
                requests.archive_id = searched.archive_id
                AND requests.is_counted
                AND CASE searched.name
                    WHEN 'user_id' THEN requests.user_id IS NOT NULL
                    WHEN 'open_s' THEN requests.open_s IS NOT NULL
                    WHEN 'class_of_service' THEN requests.class_of_service IS NOT NULL
                    WHEN 'is_cached' THEN requests.is_cached IS NOT NULL
                END
            -- In the order of an index, so that the search ends with the first one.
            ORDER BY requests.ended_at
            LIMIT 1
        ) AS found
    GROUP BY searched.archive_id
),

others AS (
    SELECT
        loaded.archive_id,
        bool_or(loaded.is_counted AND loaded.fact_table = 'opens') AS has_opens,
        bool_or(loaded.is_counted AND 'kind delete' = any(loaded.filled_columns)) AS has_deletes,
        bool_or(loaded.is_counted AND 'kind rename' = any(loaded.filled_columns)) AS has_renames,
        bool_or(loaded.is_counted AND 'kind copy' = any(loaded.filled_columns)) AS has_copies,
        bool_or(
            loaded.is_counted
            AND loaded.fact_table = 'namespace_events'
            AND 'file_key' = any(loaded.filled_columns)
        ) AS has_paths,
        bool_or(loaded.is_counted AND loaded.fact_table = 'unitree_jobs') AS has_jobs,
        bool_or(loaded.has_counted_stages AND loaded.fact_table = 'stages') AS has_stages,
        bool_or(loaded.has_counted_stages AND loaded.fact_table = 'stage_events') AS has_stage_events,
        bool_or(loaded.is_counted AND loaded.fact_table = 'transfer_starts') AS has_starts,
        bool_or(loaded.is_counted AND loaded.fact_table = 'migrations') AS has_migrations,
        bool_or(loaded.is_counted AND loaded.fact_table = 'srb_sessions') AS has_srb_sessions,
        bool_or(loaded.is_counted AND loaded.fact_table = 'tape_events') AS has_tape_events,
        bool_or(loaded.is_counted AND loaded.fact_table = 'mount_summaries') AS has_mount_summaries,
        bool_or(loaded.is_counted AND loaded.fact_table = 'snapshots') AS has_snapshots,
        bool_or(loaded.is_counted AND loaded.fact_table = 'cache_reads') AS has_cache_reads,
        bool_or(loaded.is_counted AND loaded.fact_table = 'daily_reports') AS has_daily_reports
    FROM loaded
    GROUP BY loaded.archive_id
),

-- Names from all sources, as in mart.user_names.
users AS (
    SELECT DISTINCT archive_id FROM core.users
),

activity AS (
    SELECT archives.id AS archive_id
    FROM archives
    WHERE
        EXISTS (
            SELECT FROM core.activity_cells
            WHERE activity_cells.archive_id = archives.id
        )
),

reporting AS (
    SELECT DISTINCT source_id FROM ledger.loaded_rows
    WHERE fact_table = 'daily_reports'
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
LEFT JOIN others ON archives.id = others.archive_id
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
    ('paths', coalesce(transfers.has_paths, FALSE) OR coalesce(others.has_paths, FALSE)),
    ('open_times', coalesce(transfers.has_open_times, FALSE) OR coalesce(requests.has_open_times, FALSE)),
    ('open_times_of_transfers', transfers.has_open_times),
    (
        'classes_of_service',
        coalesce(transfers.has_classes_of_service, FALSE)
        OR coalesce(requests.has_classes_of_service, FALSE)
    ),
    ('classes_of_service_of_transfers', transfers.has_classes_of_service),
    ('accounts', transfers.has_accounts),
    ('opens', others.has_opens),
    ('deletes', others.has_deletes),
    ('renames', others.has_renames),
    ('copies', others.has_copies),
    ('jobs', others.has_jobs),
    ('stages', others.has_stages),
    ('stage_events', others.has_stage_events),
    ('migrations', others.has_migrations),
    ('starts', others.has_starts),
    ('hits', requests.has_hits),
    ('tape_events', others.has_tape_events),
    ('mount_summaries', others.has_mount_summaries),
    ('srb_sessions', others.has_srb_sessions),
    ('snapshots', others.has_snapshots),
    ('cache_reads', others.has_cache_reads),
    ('daily_reports', others.has_daily_reports)
) AS facts (fact, is_held);
