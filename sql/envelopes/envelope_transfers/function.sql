CREATE FUNCTION mart.envelope_transfers(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL
) RETURNS TABLE (
    transfer_id bigint,
    archive text,
    kind text,
    interface text,
    direction text,
    size_bytes bigint,
    duration_s double precision,
    is_filtered boolean,
    is_outlier boolean,
    ended_at timestamptz,
    group_number bigint
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH transfers AS (
    SELECT selected.*
    FROM
        mart.selected_transfers(
            archive => envelope_transfers.archive,
            since => envelope_transfers.since,
            until => envelope_transfers.until,
            interface => envelope_transfers.interface,
            direction => envelope_transfers.direction,
            client => envelope_transfers.client,
            class_of_service => envelope_transfers.class_of_service
        ) AS selected
)

SELECT
    transfers.transfer_id,
    transfers.archive,
    transfers.kind,
    transfers.interface,
    transfers.direction,

    transfers.size_bytes,
    transfers.duration_s,

    -- FTP's whole seconds, and the 0.499 it writes for less than one, say nothing about small files.
    (transfers.is_duration_coarse AND transfers.duration_s < 10)
    OR transfers.duration_s <= 0 AS is_filtered,

    -- LLNL's GB is 10^9 bytes, as its MB is 10^6.
    transfers.size_bytes > 4000000000
    OR (transfers.size_bytes < 1000000000 AND transfers.duration_s > 1000) AS is_outlier,

    transfers.ended_at,

    -- Sorting by names takes twice as long as sorting by a number. The hash has 64 bits, so a few dozen
    -- interfaces do not collide.
    hashtextextended(
        transfers.interface,
        hashtextextended(transfers.archive, CASE transfers.direction WHEN 'put' THEN 0 ELSE 1 END)
    ) AS group_number
FROM transfers
WHERE
    NOT transfers.is_failed
    AND NOT transfers.is_size_saturated
    AND transfers.size_bytes IS NOT NULL
    AND transfers.duration_s IS NOT NULL

$function$;
