CREATE FUNCTION mart.small_file_tax(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    location text DEFAULT NULL,
    tape_type text DEFAULT NULL,
    drive text DEFAULT NULL,
    native_rate_bytes_per_s double precision DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    tape_type text,
    task text,
    size_from_bytes numeric,
    size_to_bytes numeric,
    file_count bigint,
    untimed_count bigint,
    size_bytes numeric,
    occupied_s double precision,
    transferring_s double precision,
    shared_s double precision,
    native_s double precision,
    tax_s double precision,
    tax_ratio double precision
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH mounts AS MATERIALIZED (
    SELECT
        selected.mount_id,
        selected.archive,
        selected.kind,
        selected.tape_type,
        selected.occupied_until,
        selected.occupied_until - selected.occupied_from AS occupied
    FROM
        mart.selected_mounts(
            archive => small_file_tax.archive,
            since => small_file_tax.since,
            until => small_file_tax.until,
            interface => small_file_tax.interface,
            location => small_file_tax.location,
            tape_type => small_file_tax.tape_type,
            drive => small_file_tax.drive
        ) AS selected
    WHERE selected.is_begun
),

reach AS (
    SELECT max(mounts.occupied_until) + interval '1 day' AS until
    FROM mounts
),

-- Mounts count whole, so files are not cut at `until`. Untimed files have no length.
files AS (
    SELECT
        operations.mount_id,
        operations.task,
        operations.is_timed,
        operations.transferring_until - operations.transferring_from AS transferring,
        length(operations.size_bytes::text) AS digit_count,
        CASE WHEN operations.is_failed IS NOT TRUE THEN operations.size_bytes END AS size_bytes
    FROM reach
    CROSS JOIN
        LATERAL mart.selected_operations(
            archive => small_file_tax.archive,
            since => small_file_tax.since,
            until => reach.until,
            interface => small_file_tax.interface,
            location => small_file_tax.location,
            tape_type => small_file_tax.tape_type,
            drive => small_file_tax.drive
        ) AS operations
),

-- One row per file, and one per mount without files.
shares AS (
    SELECT
        mounts.archive,
        mounts.kind,
        mounts.tape_type,
        files.task,
        files.digit_count,
        files.is_timed,
        files.size_bytes,
        date_part('epoch', files.transferring)::numeric AS transferring_s,
        (
            date_part('epoch', mounts.occupied)
            - coalesce(date_part('epoch', sum(files.transferring) OVER (PARTITION BY mounts.mount_id)), 0)
        )::numeric / count(*) OVER (PARTITION BY mounts.mount_id) AS shared_s
    FROM mounts
    LEFT JOIN files ON mounts.mount_id = files.mount_id
),

-- As numbers, sums do not depend on the order of rows.
sums AS (
    SELECT
        shares.archive,
        shares.kind,
        shares.tape_type,
        shares.task,
        shares.digit_count,
        count(shares.is_timed) AS file_count,
        count(*) FILTER (WHERE NOT shares.is_timed) AS untimed_count,
        sum(shares.size_bytes) AS size_bytes,
        coalesce(sum(shares.transferring_s), 0) AS transferring_s,
        sum(shares.shared_s) AS shared_s,
        coalesce(sum(shares.size_bytes), 0)::double precision
        -- Not a number is greater than infinity here.
        / CASE
            WHEN
                small_file_tax.native_rate_bytes_per_s > 0
                AND small_file_tax.native_rate_bytes_per_s < double precision 'infinity'
                THEN small_file_tax.native_rate_bytes_per_s
        END AS native_s
    FROM shares
    GROUP BY shares.archive, shares.kind, shares.tape_type, shares.task, shares.digit_count
)

SELECT
    sums.archive,
    sums.kind,
    sums.tape_type,
    sums.task,

    -- A power of numbers has decimals.
    CASE sums.digit_count WHEN 1 THEN 0 ELSE round(10::numeric ^ (sums.digit_count - 1)) END
        AS size_from_bytes,
    round(10::numeric ^ sums.digit_count) AS size_to_bytes,
    sums.file_count,
    sums.untimed_count,
    sums.size_bytes,
    (sums.transferring_s + sums.shared_s)::double precision AS occupied_s,
    sums.transferring_s::double precision AS transferring_s,
    sums.shared_s::double precision AS shared_s,
    sums.native_s,
    (sums.transferring_s + sums.shared_s)::double precision - sums.native_s AS tax_s,
    1 - sums.native_s / nullif((sums.transferring_s + sums.shared_s)::double precision, 0) AS tax_ratio
FROM sums
INNER JOIN mart.tape_coverage ON sums.archive = tape_coverage.archive
WHERE tape_coverage.has_dismounts

$function$;
