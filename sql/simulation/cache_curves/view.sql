CREATE VIEW mart.cache_curves AS

SELECT
    kept.name AS study,
    curves.policy,
    curves.capacity_bytes,
    -- A machine file may leave out the size.
    coalesce(
        curves.capacity_bytes = (kept.machine #>> '{disk,capacity_bytes}')::double precision, FALSE
    ) AS is_as_in_file,

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
INNER JOIN studies.study_curves AS curves ON kept.id = curves.study_id;
