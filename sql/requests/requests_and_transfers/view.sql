CREATE VIEW mart.requests_and_transfers AS

WITH requests AS (
    SELECT * FROM core.requests
    WHERE is_counted
),

transfers AS (
    SELECT * FROM core.transfers
),

-- Joined to both tables below, and not to their union, which has no statistics: the planner would expect one
-- row in 200 to be of the archive. Not materialized for the same reason as the sources.
archives AS NOT MATERIALIZED (
    SELECT * FROM core.archives
),

-- This CTE is used twice, but not materialized, because a parallel plan cannot read a materialized CTE.
sources AS NOT MATERIALIZED (
    SELECT * FROM ledger.sources
),

hosts AS (
    SELECT * FROM core.hosts
),

runs AS (
    SELECT * FROM studies.simulation_runs
),

-- While staging is bypassed, and for tape-only classes of service, neither a short open time nor a missing
-- stage shows that a file was on disk. All windows of an archive form one value, because they are looked up
-- for each request.
bypasses AS (
    SELECT
        config_changes.archive_id,
        range_agg(tstzrange(config_changes.started_at, config_changes.ended_at)) AS windows
    FROM core.config_changes
    WHERE
        config_changes.kind IN ('staging bypass', 'tape only')
        AND config_changes.class_of_service IS NULL
    GROUP BY config_changes.archive_id
),

-- Changes for all classes are included, with a null class, which never equals the class of a request.
class_bypasses AS (
    SELECT
        config_changes.archive_id,
        config_changes.class_of_service,
        range_agg(tstzrange(config_changes.started_at, config_changes.ended_at)) AS windows
    FROM core.config_changes
    WHERE config_changes.kind IN ('staging bypass', 'tape only')
    GROUP BY config_changes.archive_id, config_changes.class_of_service
),

-- A log without a single stage may not record stages at all; a simulation records all of them. The cells of
-- stages also show those that are forgotten, and take the planner less time than months of stages. What was
-- forgotten before there were such cells, the cells of gets show.
archives_with_stages AS (
    SELECT archives.id AS archive_id
    FROM core.archives
    WHERE
        archives.kind = 'simulated'
        OR EXISTS (
            SELECT FROM core.stage_cells
            INNER JOIN core.routes ON stage_cells.route_id = routes.id
            INNER JOIN ledger.sources AS of_cells ON routes.source_id = of_cells.id
            WHERE of_cells.archive_id = archives.id
        )
        OR EXISTS (
            SELECT FROM core.hit_cells
            INNER JOIN core.routes ON hit_cells.route_id = routes.id
            INNER JOIN ledger.sources AS of_cells ON routes.source_id = of_cells.id
            WHERE
                of_cells.archive_id = archives.id
                AND routes.client_id IS NULL
                AND hit_cells.staged_count > 0
        )
),

-- If a log records when transfers are requested, a transfer without such a line has lost it.
sources_with_starts AS (
    SELECT sources.id AS source_id
    FROM sources
    WHERE EXISTS (
        SELECT FROM core.transfer_starts
        WHERE transfer_starts.source_id = sources.id
    )
),

-- Requests that several lines report, and transfers that one line reports in full.
reported AS (
    SELECT
        requests.archive_id,
        archives.name AS archive,
        archives.kind,
        archives.timezone,
        requests.source_id,
        requests.transfer_id,
        requests.twin_transfer_id,
        requests.open_id,
        requests.stage_id,
        requests.job_id,
        requests.start_id,
        requests.interface,
        requests.direction,
        requests.user_id,
        requests.host_id,
        requests.class_of_service,
        requests.file_key,
        requests.capability_key,
        requests.persona,
        requests.size_bytes,
        requests.duration_s,
        requests.open_s,
        requests.stage_s,
        requests.is_failed,
        requests.is_cached AS is_logged_as_cached,
        requests.is_joined,
        requests.is_size_saturated,
        requests.is_time_ambiguous,
        FALSE AS is_time_of_day_unknown,
        FALSE AS is_of_one_clock,
        NULL::bigint AS single_transfer_id,
        requests.submitted_at,
        requests.opened_at,
        requests.staged_at,
        requests.started_at,
        requests.ended_at
    FROM requests
    INNER JOIN archives ON requests.archive_id = archives.id
    UNION ALL
    SELECT
        transfers.archive_id,
        archives.name AS archive,
        archives.kind,
        archives.timezone,
        transfers.source_id,
        transfers.id AS transfer_id,
        NULL::bigint AS twin_transfer_id,
        NULL::bigint AS open_id,
        NULL::bigint AS stage_id,
        NULL::bigint AS job_id,
        NULL::bigint AS start_id,
        transfers.interface,
        transfers.direction,
        transfers.user_id,
        transfers.host_id,
        transfers.class_of_service,
        transfers.file_key,
        NULL::bigint AS capability_key,
        transfers.persona,
        transfers.size_bytes,
        transfers.duration_s,
        transfers.open_s,
        NULL::double precision AS stage_s,
        transfers.is_failed,
        NULL::boolean AS is_logged_as_cached,
        NULL::boolean AS is_joined,
        transfers.is_size_saturated,
        transfers.is_time_ambiguous,
        transfers.is_time_of_day_unknown,
        -- The open time and the transfer time come from one line.
        TRUE AS is_of_one_clock,
        transfers.id AS single_transfer_id,
        transfers.started_at - make_interval(secs => transfers.open_s) AS submitted_at,
        CASE WHEN transfers.open_s IS NOT NULL THEN transfers.started_at END AS opened_at,
        NULL::timestamptz AS staged_at,
        transfers.started_at,
        transfers.ended_at
    FROM transfers
    INNER JOIN archives ON transfers.archive_id = archives.id
    INNER JOIN sources ON transfers.source_id = sources.id
    WHERE
        sources.is_counted OR (transfers.is_failed AND sources.failures_as IS NOT NULL)
),

judged AS (
    SELECT
        reported.*,
        coalesce(
            coalesce(reported.opened_at, reported.started_at, reported.ended_at) <@ bypasses.windows
            OR coalesce(reported.opened_at, reported.started_at, reported.ended_at) <@ class_bypasses.windows,
            FALSE
        ) AS is_staging_bypassed,
        archives_with_stages.archive_id IS NOT NULL AS has_stages,
        sources_with_starts.source_id IS NOT NULL AS has_starts
    FROM reported
    LEFT JOIN sources_with_starts ON reported.source_id = sources_with_starts.source_id
    LEFT JOIN archives_with_stages ON reported.archive_id = archives_with_stages.archive_id
    LEFT JOIN bypasses ON reported.archive_id = bypasses.archive_id
    LEFT JOIN class_bypasses
        ON
            reported.archive_id = class_bypasses.archive_id
            AND reported.class_of_service = class_bypasses.class_of_service
),

-- The best evidence counts. A line with a persona comes from UniTree's STAT, which records each stage.
with_evidence AS (
    SELECT
        judged.*,
        CASE
            WHEN coalesce(judged.direction, 'put') = 'put' THEN NULL
            WHEN judged.stage_id IS NOT NULL OR judged.is_joined THEN 'stage'
            WHEN judged.is_logged_as_cached IS NOT NULL THEN 'log'
            WHEN judged.is_staging_bypassed THEN NULL
            -- A line whose time of day is unknown is combined with no other, not even with its stage.
            WHEN judged.is_time_of_day_unknown THEN CASE WHEN judged.open_s IS NOT NULL THEN 'open time' END
            WHEN judged.persona IS NOT NULL AND judged.transfer_id IS NOT NULL AND judged.has_stages
                THEN 'no stage'
            WHEN judged.open_s IS NOT NULL THEN 'open time'
        END AS cache_evidence
    FROM judged
),

-- The times of several lines can come from two clocks. A time without a fraction of a second counts as coming
-- from a clock of whole seconds. A wait below one second is then known only to be that short, and the
-- difference of the times can be a little below 0. If it is further below 0, the clocks disagree, and the
-- wait is unknown.
measured AS (
    SELECT
        with_evidence.*,
        extract(
            EPOCH FROM with_evidence.started_at - with_evidence.submitted_at
        )::double precision AS measured_wait_s,
        CASE
            WHEN with_evidence.is_of_one_clock OR with_evidence.kind = 'simulated' THEN 0
            WHEN mod(extract(MICROSECONDS FROM with_evidence.ended_at)::bigint, 1000000) = 0 THEN 1
            WHEN
                -- The time of an open is when the file was open.
                mod(
                    extract(
                        MICROSECONDS FROM coalesce(
                            CASE
                                WHEN coalesce(with_evidence.job_id, with_evidence.start_id) IS NULL
                                    THEN with_evidence.opened_at
                            END,
                            with_evidence.submitted_at
                        )
                    )::bigint,
                    1000000
                ) = 0
                THEN 1
            ELSE 0
        END::double precision AS clock_step_s
    FROM with_evidence
)

SELECT
    measured.archive_id,
    measured.single_transfer_id,
    measured.archive,
    measured.kind,
    measured.timezone,
    sources.name AS source,
    measured.transfer_id,
    measured.twin_transfer_id,
    measured.open_id,
    measured.stage_id,
    measured.job_id,
    measured.start_id,
    concat_ws(
        ', ',
        CASE WHEN measured.job_id IS NOT NULL THEN 'job' END,
        CASE WHEN measured.start_id IS NOT NULL THEN 'start' END,
        CASE WHEN measured.open_id IS NOT NULL THEN 'open' END,
        CASE WHEN measured.stage_id IS NOT NULL THEN 'stage' END,
        CASE WHEN measured.transfer_id IS NOT NULL THEN 'transfer' END,
        CASE WHEN measured.twin_transfer_id IS NOT NULL THEN 'twin' END
    ) AS reported_by,
    nullif(
        concat_ws(
            ', ',
            CASE WHEN measured.has_starts AND measured.start_id IS NULL THEN 'start' END,
            CASE
                WHEN NOT measured.is_logged_as_cached AND measured.stage_id IS NULL THEN 'stage'
            END,
            CASE
                WHEN measured.start_id IS NOT NULL AND measured.transfer_id IS NULL THEN 'transfer'
            END
        ),
        ''
    ) AS missing,
    measured.interface,
    measured.direction,
    measured.user_id,
    hosts.name AS client,
    measured.class_of_service,
    measured.file_key,
    measured.capability_key,
    measured.persona,

    measured.size_bytes,
    measured.duration_s,
    measured.open_s,
    measured.stage_s,
    CASE
        WHEN measured.measured_wait_s >= 0 THEN measured.measured_wait_s
        WHEN measured.measured_wait_s > -measured.clock_step_s THEN 0
    END AS waited_s,
    measured.clock_step_s,

    measured.is_failed,
    measured.is_size_saturated,
    coalesce(sources.is_of_parts, FALSE) AS is_of_parts,
    measured.is_time_ambiguous,
    measured.is_time_of_day_unknown,
    coalesce(abs(measured.measured_wait_s) < measured.clock_step_s, FALSE) AS is_wait_below_clock,
    coalesce(
        measured.measured_wait_s < 0 AND measured.measured_wait_s <= -measured.clock_step_s, FALSE
    ) AS is_wait_negative,
    measured.is_staging_bypassed,
    CASE measured.cache_evidence
        WHEN 'stage' THEN FALSE
        WHEN 'no stage' THEN TRUE
        WHEN 'log' THEN measured.is_logged_as_cached
        -- Between disk and tape, SDSC's open times are rarest from 7 to 8 s.
        WHEN 'open time' THEN measured.open_s < 8
    END AS is_cached,
    measured.cache_evidence,
    measured.is_joined,
    measured.kind = 'simulated'
    AND NOT coalesce(
        coalesce(measured.submitted_at, measured.started_at, measured.ended_at) >= runs.steady_at, FALSE
    ) AS is_warm_up,

    measured.submitted_at,
    measured.opened_at,
    measured.staged_at,
    measured.started_at,
    measured.ended_at
FROM measured
-- The source always exists, but the union of two tables has no statistics, and the planner would expect an
-- inner join to keep one row in 200.
LEFT JOIN sources ON measured.source_id = sources.id
LEFT JOIN hosts ON measured.host_id = hosts.id
LEFT JOIN runs ON measured.archive_id = runs.archive_id;
