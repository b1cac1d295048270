CREATE VIEW mart.cache_curves AS

WITH all_studies AS (
    SELECT * FROM studies.simulation_studies
),

all_curves AS (
    SELECT * FROM studies.study_curves
),

-- At most one pool has no size in the file: it has what the others leave.
given_sizes AS (
    SELECT
        all_studies.id,
        sum((pools.value ->> 'capacity_bytes')::double precision) AS given_bytes
    FROM all_studies
    CROSS JOIN LATERAL jsonb_each(all_studies.machine #> '{disk,pools}') AS pools
    GROUP BY all_studies.id
),

disks AS (
    SELECT
        all_studies.*,
        (all_studies.machine #>> '{disk,capacity_bytes}')::double precision AS capacity_bytes,
        coalesce(given_sizes.given_bytes, 0) AS given_bytes,
        -- Studies of earlier versions only have the rank.
        coalesce(
            all_studies.machine #>> '{purge,policy}', all_studies.machine #>> '{purge,rank}'
        ) AS policy
    FROM all_studies
    LEFT JOIN given_sizes ON all_studies.id = given_sizes.id
),

curves AS (
    SELECT
        all_curves.*,
        all_studies.machine #> ARRAY['disk', 'pools', all_curves.pool] AS pool_fields
    FROM all_curves
    INNER JOIN all_studies ON all_curves.study_id = all_studies.id
)

SELECT
    disks.name AS study,
    nullif(curves.pool, '') AS pool,
    curves.policy,
    curves.capacity_bytes,
    -- A machine file may leave out sizes and rules.
    coalesce(
        curves.capacity_bytes = CASE
            WHEN curves.pool = '' THEN disks.capacity_bytes
            ELSE coalesce(
                (curves.pool_fields ->> 'capacity_bytes')::double precision,
                disks.capacity_bytes - disks.given_bytes
            )
        END,
        FALSE
    ) AS is_as_in_file,
    coalesce(
        curves.policy = coalesce(
            curves.pool_fields ->> 'policy', curves.pool_fields ->> 'rank', disks.policy
        ),
        FALSE
    ) AS is_policy_as_in_file,

    curves.get_count,
    curves.miss_count,
    curves.miss_count::double precision / nullif(curves.get_count, 0) AS miss_ratio,
    curves.miss_bytes,
    curves.first_count,
    curves.crowded_count,
    curves.plain_miss_count,
    curves.too_large_count,
    curves.left_out_get_count,

    disks.demand_archive AS archive,
    disks.demand_kind AS kind,
    disks.demand_kind <> 'measured' AS is_made_up,
    curves.options,
    curves.replayed_at
FROM disks
INNER JOIN curves ON disks.id = curves.study_id;
