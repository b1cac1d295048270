CREATE FUNCTION mart.transfer_classes(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    model text DEFAULT NULL
) RETURNS TABLE (
    model text,
    archive text,
    kind text,
    transfer_id bigint,
    interface text,
    direction text,
    class_number integer,
    class_name text,
    set_apart text,
    size_bytes bigint,
    time_s double precision,
    ended_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH models AS (
    SELECT * FROM mart.workload_models
),

classes AS (
    SELECT * FROM mart.workload_classes
)

SELECT
    models.model,
    requests.archive,
    requests.kind,
    requests.transfer_id,
    requests.interface,
    requests.direction,
    nearest.class_number,
    nearest.class_name,
    CASE
        WHEN requests.set_apart IS NOT NULL THEN requests.set_apart
        WHEN nearest.class_number IS NULL THEN 'no classes'
    END AS set_apart,

    requests.size_bytes,
    requests.time_s,

    requests.ended_at
FROM models
CROSS JOIN
    LATERAL mart.workload_requests(
        archive => transfer_classes.archive,
        since => transfer_classes.since,
        until => transfer_classes.until,
        interface => transfer_classes.interface,
        direction => transfer_classes.direction,
        client => transfer_classes.client,
        class_of_service => transfer_classes.class_of_service,
        measure => models.measure
    ) AS requests
LEFT JOIN LATERAL (
    SELECT
        classes.class_number,
        classes.class_name
    FROM classes
    WHERE
        classes.model = models.model
        AND classes.interface = requests.interface
        AND classes.direction = requests.direction
    ORDER BY
        (classes.size_log10 - requests.size_log10) ^ 2 + (classes.time_log10 - requests.time_log10) ^ 2,
        classes.class_number
    LIMIT 1
) AS nearest ON requests.set_apart IS NULL
WHERE transfer_classes.model IS NULL OR models.model = transfer_classes.model

$function$;
