-- Transfers that are reported by more than one line. (The others need no row.)
INSERT INTO core.requests (
    archive_id, ended_at, transfer_id, twin_transfer_id, open_id, stage_id, job_id, source_id, interface,
    direction, user_id, host_id, class_of_service, file_key, persona, size_bytes, duration_s, open_s,
    stage_s, is_counted, is_failed, is_size_saturated, is_time_ambiguous, submitted_at, opened_at,
    staged_at, started_at, start_id, is_cached, capability_key
)
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
WHERE
    num_nonnulls(movements.twin_id, jobs.id, stages.id, opens.id, starts.id) > 0
    AND movements.ended_at >= %(since)s
    AND movements.ended_at < %(until)s
