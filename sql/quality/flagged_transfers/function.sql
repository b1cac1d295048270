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
    flagged_ratio double precision,
    first_on date,
    last_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH cells AS (
    SELECT selected.*
    FROM
        mart.selected_days(
            archive => flagged_transfers.archive,
            since => flagged_transfers.since,
            until => flagged_transfers.until,
            interface => flagged_transfers.interface,
            direction => flagged_transfers.direction,
            client => flagged_transfers.client,
            class_of_service => flagged_transfers.class_of_service
        ) AS selected
),

-- Each cell is read once, and not once for each flag.
counts AS (
    SELECT
        cells.archive,
        cells.kind,
        cells.interface,
        sum(cells.transfer_count)::bigint AS transfer_count,
        sum(cells.ambiguous_count)::bigint AS ambiguous_count,
        sum(cells.day_only_count)::bigint AS day_only_count,
        sum(cells.coarse_count)::bigint AS coarse_count,
        sum(cells.below_clock_count)::bigint AS below_clock_count,
        sum(cells.flagged_saturated_count)::bigint AS saturated_count,
        sum(cells.inconsistent_count)::bigint AS inconsistent_count,
        CASE
            WHEN bool_or(cells.failed_count > 0 OR cells.is_failure_logged)
                THEN sum(cells.failed_count)::bigint
        END AS failed_count,
        sum(CASE WHEN cells.is_failure_logged THEN cells.transfer_count ELSE cells.failed_count END)::bigint
            AS judged_count,
        min(cells.starts_on) AS first_on,
        max(cells.starts_on) AS last_on
    FROM cells
    GROUP BY
        cells.archive,
        cells.kind,
        cells.interface
)

SELECT
    counts.archive,
    counts.kind,
    counts.interface,
    flags.flag,

    flags.flagged_count,
    counts.transfer_count,
    flags.flagged_count / flags.flaggable_count::double precision AS flagged_ratio,
    counts.first_on,
    counts.last_on
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
