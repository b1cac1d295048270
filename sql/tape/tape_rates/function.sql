CREATE FUNCTION mart.tape_rates(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    location text DEFAULT NULL,
    tape_type text DEFAULT NULL,
    drive text DEFAULT NULL,
    grouped_by text[] DEFAULT '{tape_type,task}'
) RETURNS TABLE (
    archive text,
    kind text,
    tape_type text,
    task text,
    drive text,
    requester text,
    class_of_service text,
    size_from_bytes numeric,
    size_to_bytes numeric,
    file_count bigint,
    unrated_count bigint,
    size_bytes numeric,
    transfer_s double precision,
    rate_bytes_per_s double precision,
    min_rate_bytes_per_s double precision,
    p10_rate_bytes_per_s double precision,
    p50_rate_bytes_per_s double precision,
    p90_rate_bytes_per_s double precision,
    max_rate_bytes_per_s double precision,
    mean_rate_bytes_per_s double precision,
    starts_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- Only the columns of the groupings that are asked for have values. Two stamps of whole seconds do not give
-- the rate of a short transfer.
WITH asked_for AS (
    SELECT
        operations.archive,
        operations.kind,
        CASE WHEN 'tape_type' = any(tape_rates.grouped_by) THEN known.tape_type END AS tape_type,
        CASE WHEN 'task' = any(tape_rates.grouped_by) THEN operations.task END AS task,
        CASE WHEN 'drive' = any(tape_rates.grouped_by) THEN known.drive END AS drive,
        CASE WHEN 'requester' = any(tape_rates.grouped_by) THEN operations.requester END AS requester,
        CASE WHEN 'class_of_service' = any(tape_rates.grouped_by) THEN operations.class_of_service END
            AS class_of_service,
        CASE WHEN 'size' = any(tape_rates.grouped_by) THEN length(operations.size_bytes::text) END
            AS digit_count,
        CASE
            WHEN 'day' = any(tape_rates.grouped_by)
                THEN (operations.transferred_at AT TIME ZONE operations.timezone)::date
            WHEN 'month' = any(tape_rates.grouped_by)
                THEN date_trunc('month', operations.transferred_at AT TIME ZONE operations.timezone)::date
        END AS starts_on,
        operations.size_bytes,
        CASE
            WHEN
                operations.transfer_s > 0
                AND (
                    operations.transfer_s >= 10
                    OR operations.positioned_at <> date_trunc('second', operations.positioned_at)
                    OR operations.transferred_at <> date_trunc('second', operations.transferred_at)
                )
                THEN operations.transfer_s
        END AS transfer_s
    FROM mart.tape_operations AS operations
    -- Prunes partitions: the last event of a mount is not before those of its files.
    LEFT JOIN
        mart.mounts
        ON
            operations.mount_id = mounts.mount_id
            AND mounts.last_event_at >= coalesce(tape_rates.since, timestamptz '-infinity')
            AND mounts.first_event_at < coalesce(tape_rates.until, timestamptz 'infinity')
    -- Some logs (CTA's) describe the cartridge where it is mounted, and not with each file.
    CROSS JOIN
        LATERAL (
            VALUES
            (
                coalesce(operations.tape_type, mounts.tape_type),
                coalesce(operations.drive, mounts.drive),
                coalesce(operations.location, mounts.location)
            )
        ) AS known (tape_type, drive, location)
    WHERE
        (tape_rates.archive IS NULL OR operations.archive = tape_rates.archive)
        AND operations.transferred_at IS NOT NULL
        -- The end is the last event of an operation, and this prunes partitions.
        AND operations.last_event_at >= coalesce(tape_rates.since, timestamptz '-infinity')
        AND operations.last_event_at < coalesce(tape_rates.until, timestamptz 'infinity')
        AND (tape_rates.interface IS NULL OR operations.interface = tape_rates.interface)
        AND (tape_rates.location IS NULL OR known.location = tape_rates.location)
        AND (tape_rates.tape_type IS NULL OR known.tape_type = tape_rates.tape_type)
        AND (tape_rates.drive IS NULL OR known.drive = tape_rates.drive)
        AND operations.is_failed IS NOT TRUE
        AND operations.size_bytes > 0
        AND tape_rates.grouped_by
        <@ ARRAY['tape_type', 'task', 'drive', 'requester', 'class_of_service', 'size', 'month', 'day']
),

groups AS (
    SELECT
        asked_for.archive,
        asked_for.kind,
        asked_for.tape_type,
        asked_for.task,
        asked_for.drive,
        asked_for.requester,
        asked_for.class_of_service,
        asked_for.digit_count,
        asked_for.starts_on,
        count(asked_for.transfer_s) AS file_count,
        count(*) - count(asked_for.transfer_s) AS unrated_count,
        sum(asked_for.size_bytes) FILTER (WHERE asked_for.transfer_s IS NOT NULL) AS size_bytes,
        -- As numbers, sums do not depend on the order of rows.
        sum(asked_for.transfer_s::numeric)::double precision AS transfer_s,
        percentile_disc(ARRAY[0, 0.1, 0.5, 0.9, 1]) WITHIN GROUP (
            ORDER BY asked_for.size_bytes / asked_for.transfer_s
        ) AS rates,
        avg((asked_for.size_bytes / asked_for.transfer_s)::numeric)::double precision AS mean_rate
    FROM asked_for
    GROUP BY
        asked_for.starts_on,
        asked_for.digit_count,
        asked_for.drive,
        asked_for.tape_type,
        asked_for.task,
        asked_for.requester,
        asked_for.class_of_service,
        asked_for.archive,
        asked_for.kind
)

SELECT
    groups.archive,
    groups.kind,
    groups.tape_type,
    groups.task,
    groups.drive,
    groups.requester,
    groups.class_of_service,

    -- A power of numbers has decimals.
    round(10::numeric ^ (groups.digit_count - 1)) AS size_from_bytes,
    round(10::numeric ^ groups.digit_count) AS size_to_bytes,
    groups.file_count,
    groups.unrated_count,
    groups.size_bytes,
    groups.transfer_s,
    groups.size_bytes::double precision / groups.transfer_s AS rate_bytes_per_s,
    groups.rates[1] AS min_rate_bytes_per_s,
    groups.rates[2] AS p10_rate_bytes_per_s,
    groups.rates[3] AS p50_rate_bytes_per_s,
    groups.rates[4] AS p90_rate_bytes_per_s,
    groups.rates[5] AS max_rate_bytes_per_s,
    groups.mean_rate AS mean_rate_bytes_per_s,

    groups.starts_on
FROM groups

$function$;
