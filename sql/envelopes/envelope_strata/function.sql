CREATE FUNCTION mart.envelope_strata(
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
    stratum_size integer,
    stratum bigint,
    transfer_count bigint,
    size_bytes bigint,
    duration_s double precision,
    is_filtered boolean,
    is_full boolean
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- Transfers that the filter leaves out are not ranked, and share one number.
WITH numbered AS (
    SELECT
        CASE WHEN transfers.is_filtered THEN 0 ELSE transfers.group_number END AS sorting_number,
        transfers.size_bytes,
        transfers.ended_at,
        transfers.duration_s,
        transfers.group_number,
        coalesce(
            CASE WHEN envelope_strata.stratum_size >= 1 THEN envelope_strata.stratum_size END,
            CASE transfers.direction WHEN 'put' THEN 100 ELSE 25 END
        ) AS stratum_size,
        transfers.is_filtered,
        transfers.archive,
        transfers.kind,
        transfers.interface,
        transfers.direction
    FROM
        mart.envelope_transfers(
            archive => envelope_strata.archive,
            since => envelope_strata.since,
            until => envelope_strata.until,
            interface => envelope_strata.interface,
            direction => envelope_strata.direction,
            client => envelope_strata.client,
            class_of_service => envelope_strata.class_of_service
        ) AS transfers
),

-- Transfers of equal size, end and duration can be swapped without changing any minimum, so the strata do not
-- depend on the order in which files were loaded.
ranked AS (
    SELECT
        numbered.*,
        row_number() OVER (
            PARTITION BY numbered.sorting_number
            ORDER BY numbered.size_bytes, numbered.ended_at, numbered.duration_s
        ) AS size_rank
    FROM numbered
),

stratified AS (
    SELECT
        ranked.*,
        CASE WHEN NOT ranked.is_filtered THEN (ranked.size_rank - 1) / ranked.stratum_size + 1 END AS stratum
    FROM ranked
),

-- A group has the same names everywhere. Grouping by names would sort all transfers again.
strata AS (
    SELECT
        any_value(stratified.archive) AS archive,
        any_value(stratified.kind) AS kind,
        any_value(stratified.interface) AS interface,
        any_value(stratified.direction) AS direction,
        any_value(stratified.stratum_size) AS stratum_size,
        stratified.stratum,
        stratified.stratum IS NULL AS is_filtered,
        count(*) AS transfer_count,
        -- The shortest transfer; of several equally short ones, the largest. Sizes are exact below 2^53
        -- bytes.
        min(ARRAY[stratified.duration_s, -stratified.size_bytes]) AS fastest
    FROM stratified
    GROUP BY stratified.group_number, stratified.stratum
)

SELECT
    strata.archive,
    strata.kind,
    strata.interface,
    strata.direction,
    strata.stratum_size,
    strata.stratum,

    strata.transfer_count,
    CASE WHEN NOT strata.is_filtered THEN -strata.fastest[2]::bigint END AS size_bytes,
    CASE WHEN NOT strata.is_filtered THEN strata.fastest[1] END AS duration_s,

    strata.is_filtered,
    NOT strata.is_filtered AND strata.transfer_count = strata.stratum_size AS is_full
FROM strata

$function$;
