CREATE FUNCTION mart.envelope_transfers(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    interface text,
    direction text,
    size_bytes bigint,
    duration_s double precision,
    is_filtered boolean,
    ended_at timestamptz,
    group_number bigint
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH transfers AS (
    SELECT * FROM mart.transfers
),

-- Sorting by names takes twice as long as sorting by a number. The hash has 64 bits, so no two of a few dozen
-- interfaces share one.
archives AS (
    SELECT
        archives.archive,
        row_number() OVER (ORDER BY archives.archive) AS archive_number
    FROM mart.archives
)

-- `coalesce` is used instead of `or`, because it also prunes partitions by times known only at execution
-- (now() - ...).
SELECT
    transfers.archive,
    transfers.kind,
    transfers.interface,
    transfers.direction,

    transfers.size_bytes,
    transfers.duration_s,

    -- FTP's whole seconds, and the 0.499 it writes for less than one, say nothing about small files.
    (transfers.is_duration_coarse AND transfers.duration_s < 10)
    OR transfers.duration_s <= 0 AS is_filtered,

    transfers.ended_at,

    hashtextextended(
        transfers.interface,
        2 * archives.archive_number + CASE transfers.direction WHEN 'put' THEN 0 ELSE 1 END
    ) AS group_number
FROM transfers
INNER JOIN archives ON transfers.archive = archives.archive
WHERE
    NOT transfers.is_failed
    AND NOT transfers.is_size_saturated
    AND transfers.size_bytes IS NOT NULL
    AND transfers.duration_s IS NOT NULL
    AND (envelope_transfers.archive IS NULL OR transfers.archive = envelope_transfers.archive)
    AND transfers.ended_at >= coalesce(envelope_transfers.since, timestamptz '-infinity')
    AND transfers.ended_at < coalesce(envelope_transfers.until, timestamptz 'infinity')
    AND (envelope_transfers.interface IS NULL OR transfers.interface = envelope_transfers.interface)
    AND (envelope_transfers.direction IS NULL OR transfers.direction = envelope_transfers.direction)
    AND (envelope_transfers.client IS NULL OR transfers.client = envelope_transfers.client)
    AND (
        envelope_transfers.class_of_service IS NULL
        OR transfers.class_of_service = envelope_transfers.class_of_service
    )

$function$;
