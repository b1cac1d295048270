CREATE VIEW mart.line_fates AS

WITH log_files AS (
    SELECT * FROM mart.log_files
),

ignored_lines AS (
    SELECT * FROM mart.ignored_lines
),

rejected_reasons AS (
    SELECT * FROM mart.rejected_reasons
),

fates AS (
    SELECT
        log_files.log_file_id,
        each_one.fate,
        NULL::text AS reason,
        each_one.line_count
    FROM log_files
    CROSS JOIN
        LATERAL (
            VALUES
            ('loaded', log_files.loaded_count),
            ('held', log_files.held_count)
        ) AS each_one (fate, line_count)
    UNION ALL
    SELECT
        ignored_lines.log_file_id,
        'ignored' AS fate,
        ignored_lines.reason,
        ignored_lines.line_count
    FROM ignored_lines
    UNION ALL
    SELECT
        rejected_reasons.log_file_id,
        'rejected' AS fate,
        rejected_reasons.reason,
        rejected_reasons.line_count
    FROM rejected_reasons
),

counts AS (
    SELECT
        log_files.archive,
        log_files.kind,
        log_files.source,
        log_files.format,
        fates.fate,
        fates.reason,
        sum(fates.line_count)::bigint AS line_count
    FROM fates
    INNER JOIN log_files ON fates.log_file_id = log_files.log_file_id
    GROUP BY
        log_files.archive,
        log_files.kind,
        log_files.source,
        log_files.format,
        fates.fate,
        fates.reason
),

with_totals AS (
    SELECT
        counts.*,
        sum(counts.line_count) OVER (PARTITION BY counts.archive, counts.source) AS total_count
    FROM counts
)

SELECT
    with_totals.archive,
    with_totals.kind,
    with_totals.source,
    with_totals.format,
    with_totals.fate,
    with_totals.reason,

    with_totals.line_count,
    (with_totals.line_count / nullif(with_totals.total_count, 0))::double precision AS line_ratio
FROM with_totals
WHERE with_totals.line_count > 0 OR with_totals.fate = 'loaded';
