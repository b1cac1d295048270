CREATE FUNCTION mart.are_open_boundaries(
    boundaries_s double precision[]
) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $function$

SELECT coalesce(bool_and(mart.time_bin_edge(mart.time_bin(edges.edge_s)) = edges.edge_s), FALSE)
FROM unnest(are_open_boundaries.boundaries_s) AS boundaries (boundary_s)
CROSS JOIN
    LATERAL (
        VALUES
        (boundaries.boundary_s),
        (boundaries.boundary_s / 1.25),
        (boundaries.boundary_s * 1.25)
    ) AS edges (edge_s)

$function$;
