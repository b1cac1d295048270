CREATE FUNCTION mart.reject_news(
    archive text DEFAULT NULL,
    until timestamptz DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    source text,
    reason text,
    line_count bigint,
    file_count bigint,
    is_new boolean,
    first_file_at timestamptz,
    first_file_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- A file without any time says nothing about when its lines were written.
WITH reasons AS (
    SELECT
        reasons.archive,
        reasons.kind,
        reasons.source,
        reasons.reason,
        sum(reasons.line_count)::bigint AS line_count,
        count(*) AS file_count,
        bool_and(files.first_event_at IS NOT NULL) AS is_dated,
        min(files.first_event_at) AS first_file_at
    FROM mart.rejected_reasons AS reasons
    INNER JOIN mart.log_files AS files ON reasons.log_file_id = files.log_file_id
    WHERE
        (reject_news.archive IS NULL OR reasons.archive = reject_news.archive)
        AND (
            reject_news.until IS NULL
            OR files.first_event_at IS NULL
            OR files.first_event_at < reject_news.until
        )
    GROUP BY reasons.archive, reasons.kind, reasons.source, reasons.reason
)

SELECT
    reasons.archive,
    reasons.kind,
    reasons.source,
    reasons.reason,

    reasons.line_count,
    reasons.file_count,

    CASE WHEN reasons.is_dated THEN reasons.first_file_at >= days.starts_at END AS is_new,

    reasons.first_file_at,
    (reasons.first_file_at AT TIME ZONE archives.timezone)::date AS first_file_on
FROM reasons
INNER JOIN mart.archives ON reasons.archive = archives.archive
LEFT JOIN
    mart.morning_days(archive => reject_news.archive, until => reject_news.until) AS days
    ON reasons.archive = days.archive AND days.weeks_ago = 0

$function$;
