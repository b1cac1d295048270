CREATE FUNCTION mart.mount_failures(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    location text DEFAULT NULL,
    tape_type text DEFAULT NULL,
    drive text DEFAULT NULL,
    grouped_by text DEFAULT 'volume'
) RETURNS TABLE (
    archive text,
    kind text,
    grouped_by text,
    vsn text,
    drive text,
    tape_type text,
    place bigint,
    mount_count bigint,
    unfinished_count bigint,
    file_count bigint,
    failed_count bigint,
    failed_mount_count bigint,
    failed_with_count bigint,
    failed_ratio double precision,
    failed_ratio_low double precision,
    failed_ratio_high double precision,
    last_failed_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- Mounts that began on the days of the range. Only the column of the grouping that is asked for has values.
WITH mounts AS (
    SELECT
        selected.archive,
        selected.kind,
        selected.timezone,
        CASE WHEN mount_failures.grouped_by = 'volume' THEN selected.vsn END AS vsn,
        CASE WHEN mount_failures.grouped_by = 'drive' THEN selected.drive END AS drive,
        -- Whatever it is not grouped by.
        CASE WHEN mount_failures.grouped_by = 'volume' THEN selected.drive ELSE selected.vsn END AS partner,
        selected.tape_type,
        selected.is_unfinished,
        selected.transfer_count,
        selected.failed_count,
        selected.occupied_from
    FROM
        mart.selected_mounts(
            archive => mount_failures.archive,
            since => mount_failures.since,
            until => mount_failures.until,
            interface => mount_failures.interface,
            location => mount_failures.location,
            tape_type => mount_failures.tape_type,
            drive => mount_failures.drive
        ) AS selected
    WHERE
        mount_failures.grouped_by IN ('volume', 'drive')
        AND selected.is_begun
),

-- Logs that report no failures do not show that there were none.
coverage AS MATERIALIZED (
    SELECT
        tape_coverage.archive,
        tape_coverage.has_dismounts
    FROM mart.tape_coverage
    WHERE
        (mount_failures.archive IS NULL OR tape_coverage.archive = mount_failures.archive)
        AND tape_coverage.has_failures
),

groups AS (
    SELECT
        mounts.archive,
        mounts.kind,
        mounts.vsn,
        mounts.drive,
        max(mounts.tape_type) AS tape_type,
        count(*) AS mount_count,
        count(*) FILTER (WHERE mounts.is_unfinished) AS unfinished_count,
        coalesce(sum(mounts.transfer_count), 0)::double precision AS file_count,
        coalesce(sum(mounts.failed_count), 0)::double precision AS failed_count,
        count(*) FILTER (WHERE mounts.failed_count > 0) AS failed_mount_count,
        count(DISTINCT mounts.partner) FILTER (WHERE mounts.failed_count > 0) AS failed_with_count,
        -- The square of the 0.975 quantile of the normal distribution.
        3.841458820694124::double precision AS z_squared,
        max((mounts.occupied_from AT TIME ZONE mounts.timezone)::date) FILTER (WHERE mounts.failed_count > 0)
            AS last_failed_on
    FROM mounts
    GROUP BY mounts.archive, mounts.kind, mounts.vsn, mounts.drive
),

bounded AS (
    SELECT
        groups.*,
        coverage.has_dismounts,
        sqrt(
            groups.z_squared
            * (
                groups.failed_count * (groups.file_count - groups.failed_count) / nullif(groups.file_count, 0)
                + groups.z_squared / 4
            )
        ) AS half_width
    FROM groups
    INNER JOIN coverage ON groups.archive = coverage.archive
)

SELECT
    bounded.archive,
    bounded.kind,
    mount_failures.grouped_by,
    bounded.vsn,
    bounded.drive,
    bounded.tape_type,

    rank() OVER (
        PARTITION BY bounded.archive
        ORDER BY
            bounded.failed_count DESC, bounded.failed_count / nullif(bounded.file_count, 0) DESC NULLS LAST
    ) AS place,
    bounded.mount_count,
    CASE WHEN bounded.has_dismounts THEN bounded.unfinished_count END AS unfinished_count,
    bounded.file_count::bigint AS file_count,
    bounded.failed_count::bigint AS failed_count,
    bounded.failed_mount_count,
    bounded.failed_with_count,
    bounded.failed_count / nullif(bounded.file_count, 0) AS failed_ratio,
    (bounded.failed_count + bounded.z_squared / 2 - bounded.half_width)
    / (bounded.file_count + bounded.z_squared) AS failed_ratio_low,
    (bounded.failed_count + bounded.z_squared / 2 + bounded.half_width)
    / (bounded.file_count + bounded.z_squared) AS failed_ratio_high,

    bounded.last_failed_on
FROM bounded

$function$;
