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

WITH transfers AS (
    SELECT * FROM mart.transfers
),

-- Sorting by names takes twice as long as sorting by a number that stands for them.
archives AS (
    SELECT
        archives.archive,
        row_number() OVER (ORDER BY archives.archive) AS archive_number
    FROM mart.archives
),

-- `coalesce` and not `or`: partitions are pruned by times known only at execution (now() - ...) too.
asked_for AS (
    SELECT
        transfers.archive,
        transfers.kind,
        transfers.direction,
        coalesce(
            envelope_strata.stratum_size, CASE transfers.direction WHEN 'put' THEN 100 ELSE 25 END
        ) AS stratum_size,
        transfers.size_bytes,
        transfers.duration_s,
        -- FTP's whole seconds, and the 0.499 it writes for less than one, say nothing of small files.
        (transfers.is_duration_coarse AND transfers.duration_s < 10)
        OR transfers.duration_s <= 0 AS is_filtered,
        transfers.ended_at
    FROM transfers
    WHERE
        NOT transfers.is_failed
        AND NOT transfers.is_size_saturated
        AND transfers.size_bytes IS NOT NULL
        AND transfers.duration_s IS NOT NULL
        AND (envelope_strata.archive IS NULL OR transfers.archive = envelope_strata.archive)
        AND transfers.ended_at >= coalesce(envelope_strata.since, timestamptz '-infinity')
        AND transfers.ended_at < coalesce(envelope_strata.until, timestamptz 'infinity')
        AND (envelope_strata.interface IS NULL OR transfers.interface = envelope_strata.interface)
        AND (envelope_strata.direction IS NULL OR transfers.direction = envelope_strata.direction)
        AND (envelope_strata.client IS NULL OR transfers.client = envelope_strata.client)
        AND (
            envelope_strata.class_of_service IS NULL
            OR transfers.class_of_service = envelope_strata.class_of_service
        )
),

-- One number for archive and direction; what the filter leaves out is not ranked, and shares 0.
numbered AS (
    SELECT
        asked_for.*,
        CASE
            WHEN asked_for.is_filtered THEN 0
            WHEN asked_for.direction = 'put' THEN 2 * archives.archive_number
            ELSE 2 * archives.archive_number + 1
        END AS sorting_number
    FROM asked_for
    INNER JOIN archives ON asked_for.archive = archives.archive
),

-- What is alike in size, end and duration may change places without changing any minimum, so the
-- strata do not depend on the order in which files were loaded.
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

strata AS (
    SELECT
        stratified.archive,
        stratified.kind,
        stratified.direction,
        stratified.stratum_size,
        stratified.stratum,
        stratified.is_filtered,
        count(*) AS transfer_count,
        -- The fastest; of several equally short ones the largest. Exact below 2^53 bytes.
        min(ARRAY[stratified.duration_s, -stratified.size_bytes]) AS fastest
    FROM stratified
    GROUP BY
        stratified.sorting_number,
        stratified.archive,
        stratified.kind,
        stratified.direction,
        stratified.stratum_size,
        stratified.stratum,
        stratified.is_filtered
)

SELECT
    strata.archive,
    strata.kind,
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
