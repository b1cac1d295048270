CREATE VIEW mart.study_results AS

WITH all_studies AS (
    SELECT * FROM studies.simulation_studies
),

runs AS (
    SELECT * FROM studies.study_runs
)

SELECT
    all_studies.name AS study,
    coalesce(nullif(runs.option, ''), 'as in the file') AS option,
    runs.option = '' AS is_as_in_file,
    runs.changed,
    runs.seed,

    all_studies.demand,
    all_studies.demand_name,
    all_studies.demand_archive AS archive,
    all_studies.demand_kind AS kind,
    -- A trace or model of unknown origin may be either.
    all_studies.demand_kind <> 'measured' AS is_made_up,
    all_studies.options,
    all_studies.machine_title,
    all_studies.machine,
    all_studies.program_version,

    (runs.figures ->> 'lost_h')::double precision AS lost_hours,
    (runs.figures ->> 'lost_user_h')::double precision AS lost_user_hours,
    (runs.figures ->> 'lost_limit_h')::double precision AS lost_limit_hours,
    (runs.figures ->> 'lost_failed_h')::double precision AS lost_failed_hours,
    (runs.figures ->> 'lost_port_h')::double precision AS lost_port_hours,
    (runs.figures ->> 'lost_file_h')::double precision AS lost_file_hours,
    (runs.figures ->> 'lost_drive_h')::double precision AS lost_drive_hours,
    (runs.figures ->> 'lost_space_h')::double precision AS lost_space_hours,
    (runs.figures ->> 'lost_contention_h')::double precision AS lost_contention_hours,

    (runs.figures ->> 'put_wait_p50_s')::double precision AS put_wait_p50_s,
    (runs.figures ->> 'put_wait_p95_s')::double precision AS put_wait_p95_s,
    (runs.figures ->> 'put_wait_p99_s')::double precision AS put_wait_p99_s,
    (runs.figures ->> 'get_wait_p50_s')::double precision AS get_wait_p50_s,
    (runs.figures ->> 'get_wait_p95_s')::double precision AS get_wait_p95_s,
    (runs.figures ->> 'get_wait_p99_s')::double precision AS get_wait_p99_s,
    (runs.figures ->> 'hit_ratio')::double precision AS hit_ratio,
    (runs.figures ->> 'miss_count')::double precision::bigint AS miss_count,
    (runs.figures ->> 'mount_count')::double precision::bigint AS mount_count,
    (runs.figures ->> 'drive_h')::double precision AS drive_hours,
    (runs.figures ->> 'drive_utilisation_ratio')::double precision AS drive_utilisation_ratio,
    (runs.figures ->> 'robot_utilisation_ratio')::double precision AS robot_utilisation_ratio,
    (runs.figures ->> 'port_utilisation_ratio')::double precision AS port_utilisation_ratio,
    (runs.figures ->> 'disk_utilisation_ratio')::double precision AS disk_utilisation_ratio,
    (runs.figures ->> 'disk_peak_bytes')::double precision::bigint AS disk_peak_bytes,
    (runs.figures ->> 'drive_queue_peak_count')::double precision::bigint AS drive_queue_peak_count,
    (runs.figures ->> 'filling_miss_count')::double precision::bigint AS filling_miss_count,
    (runs.figures ->> 'filling_s')::double precision AS filling_s,
    (runs.figures ->> 'cost_per_year')::double precision AS cost_per_year,
    all_studies.machine #>> '{prices,currency}' AS currency,
    runs.is_warm,

    all_studies.created_at,
    runs.ran_at
FROM all_studies
INNER JOIN runs ON all_studies.id = runs.study_id;
