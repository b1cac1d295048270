CREATE VIEW mart.reconciliation AS

WITH figures AS (
    SELECT * FROM mart.daily_figures
),

activity AS (
    SELECT * FROM mart.activity(period => 'day')
),

events AS (
    SELECT * FROM mart.namespace_events
),

mounts AS (
    SELECT * FROM mart.mounts
),

migrations AS (
    SELECT * FROM mart.migrations
),

archives AS (
    SELECT * FROM mart.archives
),

-- The report's name for each figure, its name here, and the logs that report it. A gigabyte is taken as 10^9
-- bytes. No log reports purges.
names (section, figure, name, direction, factor) AS (
    VALUES
    ('io_by_application', 'put_count', 'put_count', 'put', 1),
    ('io_by_application', 'put_gb', 'put_bytes', 'put', 1e9),
    ('io_by_application', 'get_count', 'get_count', 'get', 1),
    ('io_by_application', 'get_gb', 'get_bytes', 'get', 1e9),
    ('io_by_application', 'copy_count', 'copy_count', 'copy', 1),
    ('io_by_application', 'copy_gb', 'copy_bytes', 'copy', 1e9),
    ('tape_drives', 'mount_count', 'mount_count', 'mount', 1),
    ('migration', 'migrated_count', 'migrated_count', 'migration', 1),
    ('migration', 'migrated_gb', 'migrated_bytes', 'migration', 1e9),
    ('migration', 'purged_count', 'purged_count', NULL, 1),
    ('migration', 'purged_gb', 'purged_bytes', NULL, 1e9)
),

-- Figures of one system or all together, and of one application or all together. The rows of a report's table
-- are added up here, because the report's own total is not independent evidence.
reported AS (
    SELECT
        figures.archive,
        figures.kind,
        figures.reported_on,
        CASE grouping(figures.system) WHEN 0 THEN figures.system END AS system,
        grouping(figures.system) = 1 AS is_every_system,
        CASE
            WHEN grouping(figures.application) = 0
                THEN CASE figures.application WHEN 'gftp' THEN 'gridftp' ELSE figures.application END
        END AS interface,
        names.name AS figure,
        min(names.direction) AS direction,
        -- Added in a fixed order, so that the sum is always identical to the last bit.
        sum(figures.value * names.factor ORDER BY figures.value * names.factor) AS reported
    FROM figures
    INNER JOIN names ON figures.section = names.section AND figures.figure = names.figure
    WHERE NOT figures.is_total
    GROUP BY
        figures.archive,
        figures.kind,
        figures.reported_on,
        names.name,
        GROUPING SETS ((figures.system, figures.application), (figures.system), (figures.application), ())
    -- Drives and storage classes are not interfaces.
    HAVING grouping(figures.application) = 1 OR min(figures.section) = 'io_by_application'
),

moved AS (
    SELECT
        activity.archive,
        activity.interface,
        activity.direction,
        'transfers' AS reported_by,
        activity.starts_on,
        activity.transfer_count - coalesce(activity.failed_count, 0) AS event_count,
        activity.size_bytes
    FROM activity
    UNION ALL
    SELECT
        events.archive,
        events.interface,
        'copy' AS direction,
        'transfers' AS reported_by,
        (events.happened_at AT TIME ZONE archives.timezone)::date AS starts_on,
        count(*) FILTER (WHERE events.event_kind = 'copy' AND NOT events.is_failed) AS event_count,
        coalesce(sum(events.size_bytes) FILTER (WHERE events.event_kind = 'copy' AND NOT events.is_failed), 0)
            AS size_bytes
    FROM events
    INNER JOIN archives ON events.archive = archives.archive
    GROUP BY events.archive, events.interface, (events.happened_at AT TIME ZONE archives.timezone)::date
    UNION ALL
    SELECT
        mounts.archive,
        mounts.interface,
        'mount' AS direction,
        'mounts' AS reported_by,
        (mounts.positioned_at AT TIME ZONE mounts.timezone)::date AS starts_on,
        count(*) AS event_count,
        NULL::numeric AS size_bytes
    FROM mounts
    GROUP BY mounts.archive, mounts.interface, (mounts.positioned_at AT TIME ZONE mounts.timezone)::date
    UNION ALL
    SELECT
        migrations.archive,
        migrations.interface,
        'migration' AS direction,
        'migrations' AS reported_by,
        (migrations.migrated_at AT TIME ZONE archives.timezone)::date AS starts_on,
        count(*) FILTER (WHERE NOT migrations.is_failed) AS event_count,
        coalesce(sum(migrations.size_bytes) FILTER (WHERE NOT migrations.is_failed), 0) AS size_bytes
    FROM migrations
    INNER JOIN archives ON migrations.archive = archives.archive
    GROUP BY
        migrations.archive,
        migrations.interface,
        (migrations.migrated_at AT TIME ZONE archives.timezone)::date
),

-- A log covers the days from its first line to its last, including days without a line.
logged AS (
    SELECT
        moved.archive,
        moved.interface,
        moved.reported_by,
        min(moved.starts_on) AS first_on,
        max(moved.starts_on) AS last_on
    FROM moved
    GROUP BY moved.archive, moved.interface, moved.reported_by
),

-- The report's row of all applications is compared with all logs of the day.
compared AS (
    SELECT
        reported.archive,
        reported.kind,
        reported.reported_on,
        reported.system,
        reported.is_every_system,
        reported.interface,
        reported.figure,
        reported.reported,
        -- Copies from a forgotten time are no longer stored anywhere, whereas the rollup still counts the
        -- transfers of that time.
        reported.direction IS NOT NULL
        AND count(logged.interface) > 0
        AND (
            reported.direction <> 'copy'
            OR reported.reported_on
            >= coalesce(min(archives.retained_since AT TIME ZONE archives.timezone), timestamp '-infinity')
        ) AS has_log,
        coalesce(sum(found.amount), 0)::double precision AS found
    FROM reported
    INNER JOIN archives ON reported.archive = archives.archive
    LEFT JOIN logged
        ON
            reported.archive = logged.archive
            AND (reported.interface IS NULL OR reported.interface = logged.interface)
            AND logged.reported_by = CASE reported.direction
                WHEN 'mount' THEN 'mounts'
                WHEN 'migration' THEN 'migrations'
                ELSE 'transfers'
            END
            AND reported.reported_on BETWEEN logged.first_on AND logged.last_on
    LEFT JOIN LATERAL (
        SELECT
            sum(
                CASE WHEN reported.figure ~ '_count$' THEN moved.event_count ELSE moved.size_bytes END
            ) AS amount
        FROM moved
        WHERE
            moved.archive = reported.archive
            AND moved.interface = logged.interface
            AND moved.starts_on = reported.reported_on
            AND moved.direction = reported.direction
    ) AS found ON TRUE
    GROUP BY
        reported.archive,
        reported.kind,
        reported.reported_on,
        reported.system,
        reported.is_every_system,
        reported.interface,
        reported.figure,
        reported.direction,
        reported.reported
)

SELECT
    compared.archive,
    compared.kind,
    compared.system,
    compared.interface,
    compared.figure,

    compared.reported,
    CASE WHEN compared.has_log THEN compared.found END AS found,
    CASE WHEN compared.has_log THEN compared.found - compared.reported END AS difference,
    CASE WHEN compared.has_log THEN compared.found / nullif(compared.reported, 0) END AS ratio,

    compared.is_every_system,
    compared.has_log,

    compared.reported_on
FROM compared;
