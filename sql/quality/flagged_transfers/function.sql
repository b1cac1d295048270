CREATE FUNCTION mart.flagged_transfers(
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
    flag text,
    flagged_count bigint,
    transfer_count bigint,
    flagged_ratio double precision
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH transfers AS (
    SELECT * FROM mart.transfers
),

-- Each transfer is read once, and not once for each flag. `coalesce` is used instead of `or`, because it also
-- prunes partitions by times known only at execution (now() - ...).
counts AS (
    SELECT
        transfers.archive,
        transfers.kind,
        transfers.interface,
        count(*) AS transfer_count,
        count(*) FILTER (WHERE transfers.is_time_ambiguous) AS ambiguous_count,
        count(*) FILTER (WHERE transfers.is_time_of_day_unknown) AS day_only_count,
        count(*) FILTER (WHERE transfers.is_duration_coarse) AS coarse_count,
        count(*) FILTER (WHERE transfers.is_duration_below_clock) AS below_clock_count,
        count(*) FILTER (WHERE transfers.is_size_saturated) AS saturated_count,
        count(*) FILTER (WHERE transfers.is_rate_inconsistent) AS inconsistent_count,
        CASE
            WHEN bool_or(transfers.is_failed OR transfers.is_failure_logged)
                THEN count(*) FILTER (WHERE transfers.is_failed)
        END AS failed_count,
        count(*) FILTER (WHERE transfers.is_failed OR transfers.is_failure_logged) AS judged_count
    FROM transfers
    WHERE
        (flagged_transfers.archive IS NULL OR transfers.archive = flagged_transfers.archive)
        AND transfers.ended_at >= coalesce(flagged_transfers.since, timestamptz '-infinity')
        AND transfers.ended_at < coalesce(flagged_transfers.until, timestamptz 'infinity')
        AND (flagged_transfers.interface IS NULL OR transfers.interface = flagged_transfers.interface)
        AND (flagged_transfers.direction IS NULL OR transfers.direction = flagged_transfers.direction)
        AND (flagged_transfers.client IS NULL OR transfers.client = flagged_transfers.client)
        AND (
            flagged_transfers.class_of_service IS NULL
            OR transfers.class_of_service = flagged_transfers.class_of_service
        )
    GROUP BY
        transfers.archive,
        transfers.kind,
        transfers.interface
)

SELECT
    counts.archive,
    counts.kind,
    counts.interface,
    flags.flag,

    flags.flagged_count,
    counts.transfer_count,
    flags.flagged_count / flags.flaggable_count::double precision AS flagged_ratio
FROM counts
CROSS JOIN
    LATERAL (
        VALUES
        ('time ambiguous', counts.ambiguous_count, counts.transfer_count),
        ('time of day unknown', counts.day_only_count, counts.transfer_count),
        ('duration coarse', counts.coarse_count, counts.transfer_count),
        ('duration below clock', counts.below_clock_count, counts.transfer_count),
        ('size saturated', counts.saturated_count, counts.transfer_count),
        ('rate inconsistent', counts.inconsistent_count, counts.transfer_count),
        ('failed', counts.failed_count, counts.judged_count)
    ) AS flags (flag, flagged_count, flaggable_count)

$function$;
