CREATE FUNCTION mart.transfers_under_way(
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
    client text,
    moved_bytes bigint,
    rate_bytes_per_s double precision,
    is_moved_known boolean,
    started_at timestamptz,
    ended_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- There is no bound on ended_at after `until`: a transfer may take months. The BRIN index contains
-- started_at, so later months are not read for it. Comparing with -infinity makes PostgreSQL expect few rows,
-- and so use the index.
WITH transfers AS NOT MATERIALIZED (
    SELECT
        selected.*,
        CASE WHEN selected.is_failed THEN 0 ELSE selected.size_bytes END AS moved_bytes
    FROM
        mart.selected_transfers(
            archive => transfers_under_way.archive,
            since => transfers_under_way.since,
            interface => transfers_under_way.interface,
            direction => transfers_under_way.direction,
            client => transfers_under_way.client,
            class_of_service => transfers_under_way.class_of_service
        ) AS selected
    WHERE
        NOT selected.is_time_of_day_unknown
        AND (
            (
                selected.started_at < coalesce(transfers_under_way.until, timestamptz 'infinity')
                AND selected.started_at >= timestamptz '-infinity'
            )
            OR (
                selected.started_at IS NULL
                AND selected.ended_at < coalesce(transfers_under_way.until, timestamptz 'infinity')
            )
        )
)

SELECT
    transfers.transfer_id,
    transfers.archive,
    transfers.kind,
    transfers.interface,
    transfers.direction,
    transfers.client,

    transfers.moved_bytes,
    transfers.moved_bytes
    / nullif(date_part('epoch', transfers.ended_at - transfers.started_at), 0) AS rate_bytes_per_s,

    transfers.moved_bytes IS NOT NULL AND (transfers.is_failed OR NOT transfers.is_size_saturated)
        AS is_moved_known,

    transfers.started_at,
    transfers.ended_at
FROM transfers

$function$;
