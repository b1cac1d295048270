CREATE FUNCTION mart.residuals(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    stratum_size integer DEFAULT NULL,
    is_fresh boolean DEFAULT FALSE
) RETURNS TABLE (
    transfer_id bigint,
    archive text,
    kind text,
    interface text,
    direction text,
    size_bytes bigint,
    duration_s double precision,
    envelope_s double precision,
    residual_s double precision,
    newer_count bigint,
    is_outlier boolean,
    is_prepared boolean,
    ended_at timestamptz,
    computed_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- Materialised, so that the line is fitted only once instead of for each transfer. The number
-- is that of mart.envelope_transfers, because comparing names takes longer.
WITH lines AS MATERIALIZED (
    SELECT
        envelopes.*,
        hashtextextended(
            envelopes.interface,
            hashtextextended(envelopes.archive, CASE envelopes.direction WHEN 'put' THEN 0 ELSE 1 END)
        ) AS group_number
    FROM
        mart.lower_envelopes(
            archive => residuals.archive,
            since => residuals.since,
            until => residuals.until,
            interface => residuals.interface,
            direction => residuals.direction,
            client => residuals.client,
            class_of_service => residuals.class_of_service,
            stratum_size => residuals.stratum_size,
            is_fresh => residuals.is_fresh
        ) AS envelopes
)

SELECT
    transfers.transfer_id,
    transfers.archive,
    transfers.kind,
    transfers.interface,
    transfers.direction,

    transfers.size_bytes,
    transfers.duration_s,
    lines.latency_s + lines.slope_s_per_byte * transfers.size_bytes AS envelope_s,
    transfers.duration_s - (lines.latency_s + lines.slope_s_per_byte * transfers.size_bytes) AS residual_s,
    lines.newer_count,

    transfers.is_outlier,
    lines.is_prepared,

    transfers.ended_at,
    lines.computed_at
FROM
    mart.envelope_transfers(
        archive => residuals.archive,
        since => residuals.since,
        until => residuals.until,
        interface => residuals.interface,
        direction => residuals.direction,
        client => residuals.client,
        class_of_service => residuals.class_of_service
    ) AS transfers
INNER JOIN lines ON transfers.group_number = lines.group_number
WHERE
    NOT transfers.is_filtered
    -- The subquery is computed first, and without a line, nothing is read.
    AND EXISTS (SELECT fitted.archive FROM lines AS fitted)

$function$;
