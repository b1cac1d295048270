CREATE FUNCTION mart.ascending_edges(
    edges double precision[]
) RETURNS double precision[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $function$

SELECT coalesce(array_agg(DISTINCT given.edge ORDER BY given.edge), '{}')
FROM unnest(ascending_edges.edges) AS given (edge)
WHERE given.edge IS NOT NULL

$function$;
