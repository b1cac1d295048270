CREATE VIEW mart.source_events AS

WITH transfers AS (
    SELECT * FROM core.transfers
),

opens AS (
    SELECT * FROM core.opens
),

namespace_events AS (
    SELECT * FROM core.namespace_events
),

unitree_jobs AS (
    SELECT * FROM core.unitree_jobs
),

stages AS (
    SELECT * FROM core.stages
),

transfer_starts AS (
    SELECT * FROM core.transfer_starts
),

tape_events AS (
    SELECT * FROM core.tape_events
),

migrations AS (
    SELECT * FROM core.migrations
),

srb_sessions AS (
    SELECT * FROM core.srb_sessions
),

mount_summaries AS (
    SELECT * FROM core.mount_summaries
),

snapshots AS (
    SELECT * FROM core.snapshots
),

stage_events AS (
    SELECT * FROM core.stage_events
),

cache_reads AS (
    SELECT * FROM core.cache_reads
),

sources AS (
    SELECT * FROM ledger.sources
),

archives AS (
    SELECT * FROM core.archives
),

hosts AS (
    SELECT * FROM core.hosts
),

-- Uncounted sources are included, because this view counts lines and not movements.
events AS (
    SELECT
        transfers.source_id,
        'transfers' AS fact_table,
        transfers.interface,
        transfers.direction,
        transfers.host_id,
        transfers.class_of_service,
        transfers.is_time_of_day_unknown,
        transfers.ended_at AS event_at
    FROM transfers
    UNION ALL
    SELECT
        opens.source_id,
        'opens' AS fact_table,
        opens.interface,
        opens.direction,
        opens.host_id,
        opens.class_of_service,
        opens.is_time_of_day_unknown,
        opens.opened_at AS event_at
    FROM opens
    UNION ALL
    SELECT
        namespace_events.source_id,
        'namespace_events' AS fact_table,
        namespace_events.interface,
        NULL AS direction,
        namespace_events.host_id,
        namespace_events.class_of_service,
        namespace_events.is_time_of_day_unknown,
        namespace_events.happened_at AS event_at
    FROM namespace_events
    UNION ALL
    SELECT
        unitree_jobs.source_id,
        'unitree_jobs' AS fact_table,
        unitree_jobs.interface,
        unitree_jobs.direction,
        unitree_jobs.host_id,
        unitree_jobs.class_of_service,
        FALSE AS is_time_of_day_unknown,
        unitree_jobs.ended_at AS event_at
    FROM unitree_jobs
    UNION ALL
    SELECT
        stages.source_id,
        'stages' AS fact_table,
        stages.interface,
        NULL AS direction,
        stages.host_id,
        stages.class_of_service,
        stages.is_time_of_day_unknown,
        stages.staged_at AS event_at
    FROM stages
    UNION ALL
    SELECT
        transfer_starts.source_id,
        'transfer_starts' AS fact_table,
        transfer_starts.interface,
        transfer_starts.direction,
        transfer_starts.host_id,
        transfer_starts.class_of_service,
        FALSE AS is_time_of_day_unknown,
        transfer_starts.began_at AS event_at
    FROM transfer_starts
    UNION ALL
    SELECT
        tape_events.source_id,
        'tape_events' AS fact_table,
        tape_events.interface,
        NULL AS direction,
        tape_events.host_id,
        tape_events.class_of_service,
        FALSE AS is_time_of_day_unknown,
        tape_events.happened_at AS event_at
    FROM tape_events
    UNION ALL
    SELECT
        migrations.source_id,
        'migrations' AS fact_table,
        migrations.interface,
        NULL AS direction,
        migrations.host_id,
        migrations.class_of_service,
        migrations.is_time_of_day_unknown,
        migrations.migrated_at AS event_at
    FROM migrations
    UNION ALL
    SELECT
        srb_sessions.source_id,
        'srb_sessions' AS fact_table,
        srb_sessions.interface,
        NULL AS direction,
        srb_sessions.host_id,
        srb_sessions.class_of_service,
        srb_sessions.is_time_of_day_unknown,
        srb_sessions.closed_at AS event_at
    FROM srb_sessions
    UNION ALL
    SELECT
        mount_summaries.source_id,
        'mount_summaries' AS fact_table,
        mount_summaries.interface,
        NULL AS direction,
        mount_summaries.host_id,
        mount_summaries.class_of_service,
        FALSE AS is_time_of_day_unknown,
        mount_summaries.ended_at AS event_at
    FROM mount_summaries
    UNION ALL
    SELECT
        snapshots.source_id,
        'snapshots' AS fact_table,
        snapshots.interface,
        NULL AS direction,
        snapshots.host_id,
        snapshots.class_of_service,
        FALSE AS is_time_of_day_unknown,
        snapshots.listed_at AS event_at
    FROM snapshots
    UNION ALL
    SELECT
        stage_events.source_id,
        'stage_events' AS fact_table,
        stage_events.interface,
        NULL AS direction,
        stage_events.host_id,
        stage_events.class_of_service,
        FALSE AS is_time_of_day_unknown,
        stage_events.happened_at AS event_at
    FROM stage_events
    UNION ALL
    SELECT
        cache_reads.source_id,
        'cache_reads' AS fact_table,
        cache_reads.interface,
        NULL AS direction,
        cache_reads.host_id,
        cache_reads.class_of_service,
        FALSE AS is_time_of_day_unknown,
        cache_reads.ended_at AS event_at
    FROM cache_reads
)

SELECT
    archives.name AS archive,
    archives.kind,
    archives.timezone,
    sources.name AS source,
    events.fact_table,
    events.interface,
    events.direction,
    hosts.name AS client,
    events.class_of_service,

    sources.is_counted,
    events.is_time_of_day_unknown,

    events.event_at
FROM events
INNER JOIN sources ON events.source_id = sources.id
INNER JOIN archives ON sources.archive_id = archives.id
LEFT JOIN hosts ON events.host_id = hosts.id;
