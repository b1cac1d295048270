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
    SELECT selected.*
    FROM
        mart.selected_transfers(
            archive => flagged_transfers.archive,
            since => flagged_transfers.since,
            until => flagged_transfers.until,
            interface => flagged_transfers.interface,
            direction => flagged_transfers.direction,
            client => flagged_transfers.client,
            class_of_service => flagged_transfers.class_of_service
        ) AS selected
),

-- Each transfer is read once, and not once for each flag.
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
