CREATE VIEW mart.cache_curves AS

SELECT
    kept.name AS study,
    nullif(curves.pool, '') AS pool,
    curves.policy,
    curves.capacity_bytes,
    -- A machine file may leave out the size.
    coalesce(
        curves.capacity_bytes = CASE
            WHEN curves.pool = '' THEN disks.capacity_bytes
            ELSE coalesce(own.capacity_bytes, disks.capacity_bytes - disks.given_bytes)
        END,
        FALSE
    ) AS is_as_in_file,
    coalesce(
        curves.policy = coalesce(own.policy, kept.machine #>> '{purge,policy}', kept.machine #>> '{purge,rank}'),
        FALSE
    ) AS is_policy_as_in_file,

    curves.get_count,
    curves.miss_count,
    curves.miss_count::double precision / nullif(curves.get_count, 0) AS miss_ratio,
    curves.miss_bytes,
    curves.first_count,
    curves.crowded_count,
    curves.plain_miss_count,

    kept.demand_archive AS archive,
    kept.demand_kind AS kind,
    kept.demand_kind <> 'measured' AS is_made_up,
    curves.options,
    curves.replayed_at
FROM studies.simulation_studies AS kept
INNER JOIN studies.study_curves AS curves ON kept.id = curves.study_id
CROSS JOIN LATERAL (
    SELECT
        (kept.machine #>> '{disk,capacity_bytes}')::double precision AS capacity_bytes,
        -- One pool may have what the others leave.
        (
            SELECT coalesce(sum((pools.value ->> 'capacity_bytes')::double precision), 0)
            FROM jsonb_each(kept.machine #> '{disk,pools}') AS pools
        ) AS given_bytes
) AS disks
CROSS JOIN LATERAL (
    SELECT
        (kept.machine #>> ARRAY['disk', 'pools', curves.pool, 'capacity_bytes'])::double precision AS capacity_bytes,
        -- Studies of earlier versions only have the rank.
        coalesce(
            kept.machine #>> ARRAY['disk', 'pools', curves.pool, 'policy'],
            kept.machine #>> ARRAY['disk', 'pools', curves.pool, 'rank']
        ) AS policy
) AS own;
