CREATE FUNCTION mart.envelope_points(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    stratum_size integer DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    interface text,
    direction text,
    stratum bigint,
    size_bytes bigint,
    duration_s double precision
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH strata AS (
    SELECT *
    FROM
        mart.envelope_strata(
            archive => envelope_points.archive,
            since => envelope_points.since,
            until => envelope_points.until,
            interface => envelope_points.interface,
            direction => envelope_points.direction,
            client => envelope_points.client,
            class_of_service => envelope_points.class_of_service,
            stratum_size => envelope_points.stratum_size
        )
)

SELECT
    strata.archive,
    strata.kind,
    strata.interface,
    strata.direction,
    strata.stratum,

    strata.size_bytes,
    strata.duration_s
FROM strata
WHERE strata.is_full

$function$;
