CREATE VIEW mart.daily_figures AS

WITH daily_reports AS (
    SELECT * FROM core.daily_reports
),

archives AS (
    SELECT * FROM core.archives
),

-- If two sources contain the same report, only one of them is counted.
sources AS (
    SELECT * FROM ledger.sources
    WHERE is_counted
),

hosts AS (
    SELECT * FROM core.hosts
),

-- If a line has figures of several parts, their keys are part/figure.
figures AS (
    SELECT
        daily_reports.id,
        daily_reports.archive_id,
        sources.name AS source,
        daily_reports.reported_on,
        daily_reports.system,
        daily_reports.operation AS section,
        daily_reports.user_id,
        daily_reports.host_id,
        daily_reports.item,
        coalesce(daily_reports.part, substring(entries.key FROM '^(.*)/')) AS part,
        substring(entries.key FROM '[^/]*$') AS figure,
        entries.value::double precision AS value,
        daily_reports.is_total
    FROM daily_reports
    INNER JOIN sources ON daily_reports.source_id = sources.id
    CROSS JOIN LATERAL jsonb_each_text(daily_reports.figures::jsonb) AS entries (key, value)
),

-- If a day's report was corrected, the version read last counts.
ranked AS (
    SELECT
        figures.*,
        row_number() OVER (
            PARTITION BY
                figures.archive_id,
                figures.reported_on,
                figures.system,
                figures.section,
                figures.user_id,
                figures.host_id,
                figures.item,
                figures.part,
                figures.figure,
                figures.is_total
            ORDER BY figures.id DESC
        ) AS version_rank
    FROM figures
)

SELECT
    ranked.id AS daily_report_id,
    archives.name AS archive,
    archives.kind,
    ranked.source,
    -- The drives of a library are reported by system and drive type, such as "Archive LTO8".
    CASE
        WHEN ranked.section = 'library_drives' THEN substring(ranked.part FROM '^[^ ]+')
        ELSE ranked.system
    END AS system,
    ranked.section,
    ranked.user_id,
    CASE WHEN ranked.section = 'io_by_gateway' THEN hosts.name END AS gateway,
    CASE WHEN ranked.section = 'io_by_client' THEN hosts.name END AS client,
    CASE ranked.section
        WHEN 'io_by_application' THEN ranked.item
        WHEN 'io_by_user' THEN ranked.part
    END AS application,
    CASE WHEN ranked.section = 'migration' THEN ranked.item END AS storage_class,
    CASE WHEN ranked.section = 'migration' THEN ranked.part END AS storage_class_number,
    CASE ranked.section
        WHEN 'tape_drives' THEN ranked.item
        WHEN 'library_drives' THEN substring(ranked.part FROM '^[^ ]+ (.*)$')
    END AS drive_type,
    CASE ranked.section
        WHEN 'free_slots' THEN ranked.part
        WHEN 'library_drives' THEN ranked.item
        WHEN 'cartridge_moves' THEN ranked.item
    END AS library,
    CASE WHEN ranked.section = 'cartridge_moves' THEN ranked.part END AS to_library,
    CASE WHEN ranked.section = 'volumes' THEN ranked.item END AS vsn,
    ranked.figure,

    ranked.value,

    ranked.is_total,

    ranked.reported_on
FROM ranked
INNER JOIN archives ON ranked.archive_id = archives.id
LEFT JOIN hosts ON ranked.host_id = hosts.id
WHERE ranked.version_rank = 1;
