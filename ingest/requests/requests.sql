-- The requests of one archive that end in [since, until), put together from the lines that tell of them;
-- without those that a transfer's one line tells all of.
--
-- Which lines belong together depends on the lines within `reach` of a request's end and on nothing else: not
-- on the order in which files were read, and not on the range that is asked for. So putting a range
-- together again gives the same requests, whatever is around it. Lines are read a little further out, so
-- that the clocks' differences cost nothing at the edges.
--
-- Where things open and close (a file is opened, then moved; one log tells of a transfer, then the
-- other), they are paired like parentheses: each closing one with the latest opening one that is still
-- open: the next one before it on its level, where an opening one goes a level up and a closing one a level
-- down. This needs no more than what stands between the two, while "first in, first out" would need
-- everything since the beginning, and one line without its partner would shift all that follow. Two logs of
-- the same transfers are paired in their order as far as none is missing.
--
-- Lines of which only the day is known belong to none: their clock time is nobody's.
INSERT INTO core.requests (
    archive_id, ended_at, transfer_id, twin_transfer_id, open_id, stage_id, job_id, source_id, interface,
    direction, user_id, host_id, class_of_service, file_key, persona, size_bytes, duration_s, open_s, stage_s,
    is_counted, is_failed, is_size_saturated, is_time_ambiguous, submitted_at, opened_at, staged_at, started_at,
    start_id, is_cached, capability_key
)

WITH sources AS (
    SELECT * FROM ledger.sources
    WHERE archive_id = %(archive_id)s
),

transfers AS MATERIALIZED (
    SELECT
        transfers.id,
        transfers.archive_id,
        transfers.source_id,
        transfers.line_hash,
        transfers.occurrence,
        transfers.interface,
        transfers.direction,
        transfers.user_id,
        transfers.host_id,
        transfers.class_of_service,
        transfers.file_key,
        transfers.persona,
        transfers.size_bytes,
        transfers.duration_s,
        transfers.open_s,
        sources.is_counted,
        sources.is_counted OR (transfers.is_failed AND sources.failures_as IS NOT NULL) AS is_request_counted,
        transfers.is_failed,
        transfers.is_size_saturated,
        transfers.is_time_ambiguous,
        transfers.started_at,
        transfers.ended_at
    FROM core.transfers
    INNER JOIN sources ON transfers.source_id = sources.id
    WHERE
        transfers.archive_id = %(archive_id)s
        AND transfers.ended_at >= %(read_since)s
        AND transfers.ended_at < %(read_until)s
        AND NOT transfers.is_time_of_day_unknown
),

opens AS MATERIALIZED (
    SELECT
        opens.id,
        opens.archive_id,
        opens.source_id,
        opens.line_hash,
        opens.occurrence,
        opens.interface,
        opens.direction,
        opens.user_id,
        opens.host_id,
        opens.class_of_service,
        opens.file_key,
        opens.open_s,
        opens.is_failed,
        opens.is_cached,
        opens.is_time_ambiguous,
        opens.opened_at,
        sources.is_counted
    FROM core.opens
    INNER JOIN sources ON opens.source_id = sources.id
    WHERE
        opens.archive_id = %(archive_id)s
        AND opens.opened_at >= %(read_since)s
        AND opens.opened_at < %(read_until)s
        AND NOT opens.is_time_of_day_unknown
),

starts AS MATERIALIZED (
    SELECT
        transfer_starts.*,
        sources.is_counted,
        lead(transfer_starts.began_at) OVER (
            PARTITION BY
                transfer_starts.source_id,
                transfer_starts.host_id,
                transfer_starts.user_id,
                transfer_starts.file_key
            ORDER BY transfer_starts.began_at, transfer_starts.line_hash, transfer_starts.occurrence
        ) AS next_began_at
    FROM core.transfer_starts
    INNER JOIN sources ON transfer_starts.source_id = sources.id
    WHERE
        transfer_starts.archive_id = %(archive_id)s
        AND transfer_starts.began_at >= %(read_since)s
        AND transfer_starts.began_at < %(read_until)s
),

stages AS MATERIALIZED (
    SELECT * FROM core.stages
    WHERE
        archive_id = %(archive_id)s
        AND staged_at >= %(read_since)s
        AND staged_at < %(read_until)s
        AND num_nonnulls(persona, file_key) > 0
        AND NOT is_failed
        AND NOT is_time_of_day_unknown
),

-- From when until when a job's lines can stand in the STAT log. COND's clock shows whole seconds; a job
-- that starts after it ends has one time that can be believed, its end.
jobs AS MATERIALIZED (
    SELECT
        unitree_jobs.*,
        sources.is_counted,
        CASE WHEN unitree_jobs.is_start_after_end THEN NULL ELSE unitree_jobs.started_at END AS submitted_at,
        CASE
            WHEN unitree_jobs.is_start_after_end OR unitree_jobs.started_at IS NULL
                THEN unitree_jobs.ended_at - %(clock_slack)s
            ELSE greatest(unitree_jobs.started_at, unitree_jobs.ended_at - %(reach)s)
        END AS told_since,
        unitree_jobs.ended_at + %(clock_slack)s AS told_until
    FROM core.unitree_jobs
    INNER JOIN sources ON unitree_jobs.source_id = sources.id
    WHERE
        unitree_jobs.archive_id = %(archive_id)s
        AND unitree_jobs.ended_at >= %(read_since)s
        AND unitree_jobs.ended_at < %(read_until)s
        AND unitree_jobs.direction IS NOT NULL
),

-- 1. Two logs tell of one transfer: same machine, direction and size, ends within the clocks' slack.
twin_events AS (
    SELECT
        transfers.id,
        transfers.is_counted,
        transfers.direction,
        transfers.host_id,
        transfers.size_bytes,
        transfers.is_failed,
        transfers.line_hash,
        transfers.occurrence,
        transfers.ended_at,
        transfers.ended_at
        - CASE WHEN transfers.is_counted THEN interval '0' ELSE %(clock_slack)s END AS placed_at,
        coalesce(
            transfers.ended_at - lag(transfers.ended_at) OVER alike > %(clock_slack)s, false
        ) AS is_apart
    FROM transfers
    WHERE EXISTS (SELECT FROM sources WHERE NOT sources.is_counted)
    WINDOW
        alike AS (
            PARTITION BY
                transfers.direction, transfers.host_id, transfers.size_bytes, transfers.is_failed
            ORDER BY transfers.ended_at
        )
),

-- A file that is fetched over and over leaves runs of lines that are alike in both logs. The two lines of a
-- transfer stand in one run: they are no further apart than that.
twin_runs AS (
    SELECT
        twin_events.*,
        count(*) FILTER (WHERE twin_events.is_apart) OVER (
            PARTITION BY
                twin_events.direction, twin_events.host_id, twin_events.size_bytes, twin_events.is_failed
            ORDER BY twin_events.ended_at
        ) AS run_number
    FROM twin_events
),

twin_places AS (
    SELECT
        twin_runs.*,
        row_number() OVER (
            PARTITION BY
                twin_runs.direction,
                twin_runs.host_id,
                twin_runs.size_bytes,
                twin_runs.is_failed,
                twin_runs.run_number,
                twin_runs.is_counted
            ORDER BY twin_runs.ended_at, twin_runs.line_hash, twin_runs.occurrence
        ) AS place
    FROM twin_runs
),

twin_pairs AS (
    SELECT
        twin_places.*,
        count(*) OVER one_place = 2
        AND max(twin_places.ended_at) OVER one_place - min(twin_places.ended_at) OVER one_place
        <= %(clock_slack)s AS is_pair
    FROM twin_places
    WINDOW
        one_place AS (
            PARTITION BY
                twin_places.direction,
                twin_places.host_id,
                twin_places.size_bytes,
                twin_places.is_failed,
                twin_places.run_number,
                twin_places.place
        )
),

-- Where no line of a run is missing, the first belongs to the first, the second to the second. (A run longer
-- than the reach may go on where nothing was read.)
twin_orders AS (
    SELECT
        twin_pairs.*,
        bool_and(twin_pairs.is_pair) OVER one_run
        AND max(twin_pairs.ended_at) OVER one_run - min(twin_pairs.ended_at) OVER one_run
        <= %(reach)s AS is_in_order
    FROM twin_pairs
    WINDOW
        one_run AS (
            PARTITION BY
                twin_pairs.direction,
                twin_pairs.host_id,
                twin_pairs.size_bytes,
                twin_pairs.is_failed,
                twin_pairs.run_number
        )
),

twins_in_order AS (
    SELECT
        max(twin_orders.id) FILTER (WHERE twin_orders.is_counted) AS transfer_id,
        max(twin_orders.id) FILTER (WHERE NOT twin_orders.is_counted) AS twin_id
    FROM twin_orders
    WHERE twin_orders.is_in_order
    GROUP BY
        twin_orders.direction,
        twin_orders.host_id,
        twin_orders.size_bytes,
        twin_orders.is_failed,
        twin_orders.run_number,
        twin_orders.place
),

-- In the other runs, the line that is not counted opens, so much earlier that it comes first; the one that is
-- counted closes.
twin_levels AS (
    SELECT
        twin_orders.*,
        sum(CASE WHEN twin_orders.is_counted THEN -1 ELSE 1 END) OVER (
            PARTITION BY
                twin_orders.direction, twin_orders.host_id, twin_orders.size_bytes, twin_orders.is_failed
            ORDER BY
                twin_orders.placed_at, twin_orders.is_counted, twin_orders.line_hash, twin_orders.occurrence
            ROWS UNBOUNDED PRECEDING
        ) + twin_orders.is_counted::integer AS level
    FROM twin_orders
    WHERE NOT twin_orders.is_in_order
),

twin_neighbours AS (
    SELECT
        twin_levels.id,
        twin_levels.is_counted,
        twin_levels.ended_at,
        lag(twin_levels.id) OVER (one_level) AS twin_id,
        lag(twin_levels.ended_at) OVER (one_level) AS twin_ended_at
    FROM twin_levels
    WINDOW
        one_level AS (
            PARTITION BY
                twin_levels.direction,
                twin_levels.host_id,
                twin_levels.size_bytes,
                twin_levels.is_failed,
                twin_levels.level
            ORDER BY
                twin_levels.placed_at, twin_levels.is_counted, twin_levels.line_hash, twin_levels.occurrence
        )
),

twin_ids AS (
    SELECT
        twins_in_order.transfer_id,
        twins_in_order.twin_id
    FROM twins_in_order
    UNION ALL
    SELECT
        twin_neighbours.id AS transfer_id,
        twin_neighbours.twin_id
    FROM twin_neighbours
    WHERE
        twin_neighbours.is_counted
        AND twin_neighbours.ended_at <= twin_neighbours.twin_ended_at + %(clock_slack)s
),

twins AS (
    SELECT
        twin_ids.transfer_id,
        transfers.*
    FROM twin_ids
    INNER JOIN transfers ON twin_ids.twin_id = transfers.id
),

-- One row per transfer, however many logs tell of it. `told_at` is when the log that knows the persona
-- says that it ended.
movements AS MATERIALIZED (
    SELECT
        transfers.*,
        twin.id AS twin_id,
        coalesce(transfers.persona, twin.persona) AS known_persona,
        CASE WHEN transfers.persona IS NULL THEN twin.ended_at ELSE transfers.ended_at END AS told_at,
        CASE WHEN transfers.persona IS NULL THEN twin.source_id ELSE transfers.source_id END AS told_source_id,
        coalesce(transfers.user_id, twin.user_id) AS known_user_id,
        coalesce(transfers.class_of_service, twin.class_of_service) AS known_class_of_service,
        coalesce(transfers.file_key, twin.file_key) AS known_file_key,
        coalesce(transfers.open_s, twin.open_s) AS known_open_s
    FROM transfers
    LEFT JOIN twins AS twin ON transfers.id = twin.transfer_id
    WHERE NOT EXISTS (SELECT FROM twin_ids WHERE twin_ids.twin_id = transfers.id)
),

-- 2. The job of a transfer has its persona and direction, and was running when the transfer ended; of
-- several, the one that ended next to it.
job_matches AS (
    SELECT DISTINCT ON (movements.id)
        movements.id AS transfer_id,
        jobs.id AS job_id
    FROM movements
    INNER JOIN jobs
        ON
            movements.known_persona = jobs.persona
            AND movements.direction = jobs.direction
            AND movements.told_at >= jobs.told_since
            AND movements.told_at < jobs.told_until
    ORDER BY
        movements.id,
        abs(extract(EPOCH FROM jobs.ended_at - movements.told_at)),
        jobs.line_hash,
        jobs.occurrence
),

with_jobs AS (
    SELECT
        movements.id,
        movements.known_persona,
        movements.told_source_id,
        movements.told_at,
        job_matches.job_id,
        -- From when a stage can belong to it: the job's start, or where that is not known, so long before the
        -- transfer's start as queues may hold it.
        greatest(
            CASE
                WHEN jobs.submitted_at IS NOT NULL THEN jobs.told_since
                ELSE
                    movements.told_at
                    - make_interval(secs => coalesce(movements.duration_s, 0))
                    - %(queue_limit)s
            END,
            movements.told_at - %(reach)s
        ) AS staged_since,
        max(movements.told_at) FILTER (WHERE NOT movements.is_failed) OVER (
            PARTITION BY movements.known_persona, movements.told_source_id
            ORDER BY movements.told_at, movements.line_hash, movements.occurrence
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS last_got_at
    FROM movements
    LEFT JOIN job_matches ON movements.id = job_matches.transfer_id
    LEFT JOIN jobs ON job_matches.job_id = jobs.id
    WHERE movements.known_persona IS NOT NULL AND movements.direction = 'get'
),

-- 3. A stage belongs to the next gets with its persona in its log, up to the first that succeeds: what failed is
-- tried again, and does not wait for the tape twice.
stage_matches AS (
    SELECT DISTINCT ON (with_jobs.id)
        with_jobs.id AS transfer_id,
        stages.id AS stage_id
    FROM with_jobs
    INNER JOIN stages
        ON
            with_jobs.known_persona = stages.persona
            AND with_jobs.told_source_id = stages.source_id
            AND stages.staged_at >= with_jobs.staged_since
            AND stages.staged_at > coalesce(with_jobs.last_got_at, timestamptz '-infinity')
            AND stages.staged_at <= with_jobs.told_at
    ORDER BY with_jobs.id, stages.staged_at DESC, stages.line_hash, stages.occurrence
),

-- Jobs whose transfer never came, or is not in any log that was read; they can have been staged all the same.
lone_jobs AS (
    SELECT jobs.*
    FROM jobs
    WHERE NOT EXISTS (SELECT FROM job_matches WHERE job_matches.job_id = jobs.id)
),

stages_of_jobs AS (
    SELECT DISTINCT ON (lone_jobs.id)
        lone_jobs.id AS job_id,
        stages.id AS stage_id
    FROM lone_jobs
    INNER JOIN stages
        ON
            lone_jobs.persona = stages.persona
            AND stages.staged_at
            >= CASE
                WHEN lone_jobs.submitted_at IS NULL THEN lone_jobs.ended_at - %(queue_limit)s
                ELSE lone_jobs.told_since
            END
            AND stages.staged_at < lone_jobs.told_until
    WHERE
        lone_jobs.direction = 'get'
        AND NOT EXISTS (SELECT FROM stage_matches WHERE stage_matches.stage_id = stages.id)
    ORDER BY lone_jobs.id, stages.staged_at DESC, stages.line_hash, stages.occurrence
),

-- 4. A file is opened, or its transfer begun, then moved: `pairs.py` says which of them belong together.
-- (No row of one table has the number of another's: what is opened is an open or a start.)
open_matches AS MATERIALIZED (
    SELECT
        pairs.transfer_id,
        pairs.open_id
    FROM unnest(%(transfer_ids)s::bigint[], %(open_ids)s::bigint[]) AS pairs (transfer_id, open_id)
),

-- 5. A stage without a persona, but with its file's path, belongs to the get of the same source, machine and
-- user that was under way: begun before it, and not ended, or else not begun again. Where no line says when a get
-- was asked for, it can be so long before as queues may hold it, but not before the last that succeeded.
file_gets AS (
    SELECT
        transfers.id,
        transfers.source_id,
        transfers.host_id,
        transfers.user_id,
        transfers.file_key,
        coalesce(
            starts.began_at,
            greatest(
                transfers.ended_at - make_interval(secs => coalesce(transfers.duration_s, 0)) - %(queue_limit)s,
                transfers.ended_at - %(reach)s,
                max(transfers.ended_at) FILTER (WHERE NOT transfers.is_failed) OVER (
                    PARTITION BY
                        transfers.source_id, transfers.host_id, transfers.user_id, transfers.file_key
                    ORDER BY transfers.ended_at, transfers.line_hash, transfers.occurrence
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                )
            )
        ) AS staged_since,
        transfers.ended_at AS staged_until,
        starts.is_cached
    FROM transfers
    LEFT JOIN open_matches ON transfers.id = open_matches.transfer_id
    LEFT JOIN starts ON open_matches.open_id = starts.id
    WHERE
        transfers.file_key IS NOT NULL
        AND transfers.direction = 'get'
        AND EXISTS (SELECT FROM stages WHERE stages.persona IS NULL)
    UNION ALL
    SELECT
        starts.id,
        starts.source_id,
        starts.host_id,
        starts.user_id,
        starts.file_key,
        starts.began_at AS staged_since,
        least(starts.began_at + %(reach)s, starts.next_began_at) AS staged_until,
        starts.is_cached
    FROM starts
    WHERE
        starts.direction = 'get'
        AND NOT EXISTS (SELECT FROM open_matches WHERE open_matches.open_id = starts.id)
),

file_stage_matches AS (
    SELECT DISTINCT ON (file_gets.id)
        file_gets.id,
        stages.id AS stage_id
    FROM file_gets
    INNER JOIN stages
        ON
            file_gets.source_id = stages.source_id
            AND file_gets.file_key = stages.file_key
            AND stages.persona IS NULL
            AND num_nonnulls(stages.host_id, stages.user_id) > 0
            AND stages.host_id IS NOT DISTINCT FROM file_gets.host_id
            AND stages.user_id IS NOT DISTINCT FROM file_gets.user_id
            AND stages.staged_at >= file_gets.staged_since
            AND stages.staged_at <= file_gets.staged_until
    WHERE file_gets.is_cached IS NOT TRUE
    ORDER BY file_gets.id, stages.staged_at DESC, stages.line_hash, stages.occurrence
),

-- 6. A stage that says neither for which machine nor for which user it was (dCache's restore) belongs to the gets of
-- its source and file that waited for it. A line that says whether the file was on disk is written when it is asked for:
-- who asked before the stage ended, and moved the file after it, waited, and several may have. Of the gets
-- without such a line it is the first that began after the stage, within `follow_limit`: who comes later
-- found the file on disk, or waited, too, and nothing shows which. A get that fails does not use the stage up.
recalled_gets AS (
    SELECT
        transfers.id,
        transfers.source_id,
        transfers.file_key,
        transfers.is_failed,
        transfers.line_hash,
        transfers.occurrence,
        transfers.ended_at,
        coalesce(transfers.started_at, transfers.ended_at) AS begun_at,
        coalesce(
            starts.began_at, CASE WHEN opens.is_cached IS NOT NULL THEN opens.opened_at END
        ) AS asked_at,
        coalesce(starts.is_cached, opens.is_cached) AS is_cached
    FROM transfers
    LEFT JOIN open_matches ON transfers.id = open_matches.transfer_id
    LEFT JOIN starts ON open_matches.open_id = starts.id
    LEFT JOIN opens ON open_matches.open_id = opens.id
    WHERE
        transfers.file_key IS NOT NULL
        AND transfers.direction = 'get'
        AND EXISTS (SELECT FROM stages WHERE num_nonnulls(stages.persona, stages.host_id, stages.user_id) = 0)
),

-- Also those that found the file on disk, and use the stage up. All end within the reach of the stage: which there are
-- must not depend on the range that is read.
recall_candidates AS (
    SELECT
        recalled_gets.id,
        recalled_gets.asked_at,
        recalled_gets.is_cached,
        stages.id AS stage_id,
        stages.line_hash,
        stages.occurrence,
        stages.staged_at,
        stages.staged_at - make_interval(
            secs => stages.duration_s + coalesce(stages.queue_s, 0)
        ) AS recalled_at,
        coalesce(bool_or(NOT recalled_gets.is_failed) OVER (
            PARTITION BY stages.id
            ORDER BY recalled_gets.begun_at, recalled_gets.line_hash, recalled_gets.occurrence
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ), FALSE) AS is_used_up
    FROM recalled_gets
    INNER JOIN stages
        ON
            recalled_gets.source_id = stages.source_id
            AND recalled_gets.file_key = stages.file_key
            AND num_nonnulls(stages.persona, stages.host_id, stages.user_id) = 0
            AND stages.staged_at <= recalled_gets.begun_at + %(clock_slack)s
            AND stages.staged_at >= recalled_gets.ended_at - %(reach)s
            AND stages.staged_at
            >= least(recalled_gets.asked_at, recalled_gets.begun_at - %(follow_limit)s)
),

recall_matches AS (
    SELECT DISTINCT ON (recall_candidates.id)
        recall_candidates.id,
        recall_candidates.stage_id,
        coalesce(recall_candidates.asked_at, recall_candidates.recalled_at) AS asked_at
    FROM recall_candidates
    WHERE
        recall_candidates.is_cached IS NOT TRUE
        AND CASE
            WHEN recall_candidates.asked_at IS NULL THEN NOT recall_candidates.is_used_up
            ELSE recall_candidates.staged_at >= recall_candidates.asked_at
        END
    ORDER BY
        recall_candidates.id,
        recall_candidates.staged_at DESC,
        recall_candidates.line_hash,
        recall_candidates.occurrence
),

told_of_transfers AS (
    SELECT
        movements.archive_id,
        movements.ended_at,
        movements.id AS transfer_id,
        movements.twin_id AS twin_transfer_id,
        opens.id AS open_id,
        stages.id AS stage_id,
        jobs.id AS job_id,
        movements.source_id,
        movements.interface,
        movements.direction,
        coalesce(movements.known_user_id, jobs.user_id, opens.user_id) AS user_id,
        movements.host_id,
        coalesce(
            movements.known_class_of_service, opens.class_of_service, starts.class_of_service
        ) AS class_of_service,
        movements.known_file_key AS file_key,
        movements.known_persona AS persona,
        movements.size_bytes,
        movements.duration_s,
        coalesce(opens.open_s, movements.known_open_s) AS open_s,
        stages.duration_s AS stage_s,
        movements.is_request_counted AS is_counted,
        movements.is_failed,
        movements.is_size_saturated,
        coalesce(
            TRUE IN (
                movements.is_time_ambiguous,
                jobs.is_time_ambiguous,
                stages.is_time_ambiguous,
                opens.is_time_ambiguous,
                starts.is_time_ambiguous
            ),
            FALSE
        ) AS is_time_ambiguous,
        coalesce(
            jobs.submitted_at,
            starts.began_at,
            opens.opened_at - make_interval(secs => opens.open_s),
            movements.started_at - make_interval(secs => movements.known_open_s),
            recall_matches.asked_at
        ) AS submitted_at,
        coalesce(
            opens.opened_at, CASE WHEN movements.known_open_s IS NOT NULL THEN movements.started_at END
        ) AS opened_at,
        stages.staged_at,
        movements.started_at,
        starts.id AS start_id,
        coalesce(starts.is_cached, opens.is_cached) AS is_cached,
        starts.capability_key
    FROM movements
    LEFT JOIN job_matches ON movements.id = job_matches.transfer_id
    LEFT JOIN jobs ON job_matches.job_id = jobs.id
    LEFT JOIN stage_matches ON movements.id = stage_matches.transfer_id
    LEFT JOIN file_stage_matches ON movements.id = file_stage_matches.id
    LEFT JOIN recall_matches ON movements.id = recall_matches.id
    LEFT JOIN stages
        ON
            coalesce(stage_matches.stage_id, file_stage_matches.stage_id, recall_matches.stage_id)
            = stages.id
    LEFT JOIN open_matches ON movements.id = open_matches.transfer_id
    LEFT JOIN open_matches AS open_matches_of_twins ON movements.twin_id = open_matches_of_twins.transfer_id
    LEFT JOIN opens ON coalesce(open_matches.open_id, open_matches_of_twins.open_id) = opens.id
    LEFT JOIN starts ON coalesce(open_matches.open_id, open_matches_of_twins.open_id) = starts.id
    WHERE num_nonnulls(movements.twin_id, jobs.id, stages.id, opens.id, starts.id) > 0
),

told_of_jobs AS (
    SELECT
        lone_jobs.archive_id,
        lone_jobs.ended_at,
        NULL::bigint AS transfer_id,
        NULL::bigint AS twin_transfer_id,
        NULL::bigint AS open_id,
        stages.id AS stage_id,
        lone_jobs.id AS job_id,
        lone_jobs.source_id,
        lone_jobs.interface,
        lone_jobs.direction,
        lone_jobs.user_id,
        lone_jobs.host_id,
        lone_jobs.class_of_service,
        stages.file_key,
        lone_jobs.persona,
        stages.size_bytes,
        NULL::double precision AS duration_s,
        NULL::double precision AS open_s,
        stages.duration_s AS stage_s,
        lone_jobs.is_counted,
        lone_jobs.is_failed,
        false AS is_size_saturated,
        coalesce(TRUE IN (lone_jobs.is_time_ambiguous, stages.is_time_ambiguous), FALSE) AS is_time_ambiguous,
        lone_jobs.submitted_at,
        NULL::timestamptz AS opened_at,
        stages.staged_at,
        NULL::timestamptz AS started_at,
        NULL::bigint AS start_id,
        NULL::boolean AS is_cached,
        NULL::bigint AS capability_key
    FROM lone_jobs
    LEFT JOIN stages_of_jobs ON lone_jobs.id = stages_of_jobs.job_id
    LEFT JOIN stages ON stages_of_jobs.stage_id = stages.id
),

-- Opens after which nothing was moved, failed ones among them.
told_of_opens AS (
    SELECT
        opens.archive_id,
        opens.opened_at AS ended_at,
        NULL::bigint AS transfer_id,
        NULL::bigint AS twin_transfer_id,
        opens.id AS open_id,
        NULL::bigint AS stage_id,
        NULL::bigint AS job_id,
        opens.source_id,
        opens.interface,
        opens.direction,
        opens.user_id,
        opens.host_id,
        opens.class_of_service,
        opens.file_key,
        NULL::integer AS persona,
        NULL::bigint AS size_bytes,
        NULL::double precision AS duration_s,
        opens.open_s,
        NULL::double precision AS stage_s,
        opens.is_counted,
        opens.is_failed,
        false AS is_size_saturated,
        opens.is_time_ambiguous,
        opens.opened_at - make_interval(secs => opens.open_s) AS submitted_at,
        opens.opened_at,
        NULL::timestamptz AS staged_at,
        NULL::timestamptz AS started_at,
        NULL::bigint AS start_id,
        opens.is_cached,
        NULL::bigint AS capability_key
    FROM opens
    WHERE NOT EXISTS (SELECT FROM open_matches WHERE open_matches.open_id = opens.id)
),

-- Transfers that were begun and not ended, as far as is known: how they went nobody knows.
told_of_starts AS (
    SELECT
        starts.archive_id,
        starts.began_at AS ended_at,
        NULL::bigint AS transfer_id,
        NULL::bigint AS twin_transfer_id,
        NULL::bigint AS open_id,
        stages.id AS stage_id,
        NULL::bigint AS job_id,
        starts.source_id,
        starts.interface,
        starts.direction,
        starts.user_id,
        starts.host_id,
        starts.class_of_service,
        starts.file_key,
        NULL::integer AS persona,
        coalesce(starts.size_bytes, stages.size_bytes) AS size_bytes,
        NULL::double precision AS duration_s,
        NULL::double precision AS open_s,
        stages.duration_s AS stage_s,
        starts.is_counted,
        NULL::boolean AS is_failed,
        false AS is_size_saturated,
        coalesce(TRUE IN (starts.is_time_ambiguous, stages.is_time_ambiguous), FALSE) AS is_time_ambiguous,
        starts.began_at AS submitted_at,
        NULL::timestamptz AS opened_at,
        stages.staged_at,
        NULL::timestamptz AS started_at,
        starts.id AS start_id,
        starts.is_cached,
        starts.capability_key
    FROM starts
    LEFT JOIN file_stage_matches ON starts.id = file_stage_matches.id
    LEFT JOIN stages ON file_stage_matches.stage_id = stages.id
    WHERE NOT EXISTS (SELECT FROM open_matches WHERE open_matches.open_id = starts.id)
),

told AS (
    SELECT * FROM told_of_transfers
    UNION ALL
    SELECT * FROM told_of_jobs
    UNION ALL
    SELECT * FROM told_of_opens
    UNION ALL
    SELECT * FROM told_of_starts
)

SELECT *
FROM told
WHERE told.ended_at >= %(since)s AND told.ended_at < %(until)s
