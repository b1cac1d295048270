CREATE VIEW mart.daily_figures AS

WITH daily_reports AS (
    SELECT * FROM core.daily_reports
),

archives AS (
    SELECT * FROM core.archives
),

-- Where two sources bring the same report only one of them is counted.
sources AS (
    SELECT * FROM ledger.sources
    WHERE is_counted
),

hosts AS (
    SELECT * FROM core.hosts
),

-- A line that tells of several parts calls their figures part/figure.
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
        coalesce(daily_reports.part, substring(told.key FROM '^(.*)/')) AS part,
        substring(told.key FROM '[^/]*$') AS figure,
        told.value::double precision AS value,
        daily_reports.is_total
    FROM daily_reports
    INNER JOIN sources ON daily_reports.source_id = sources.id
    CROSS JOIN LATERAL jsonb_each_text(daily_reports.figures::jsonb) AS told (key, value)
),

-- Where a day's report was corrected, what was read last counts.
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
    ranked.system,
    ranked.section,
    ranked.user_id,
    hosts.name AS client,
    ranked.item,
    ranked.part,
    ranked.figure,

    ranked.value,

    ranked.is_total,

    ranked.reported_on
FROM ranked
INNER JOIN archives ON ranked.archive_id = archives.id
LEFT JOIN hosts ON ranked.host_id = hosts.id
WHERE ranked.version_rank = 1;
