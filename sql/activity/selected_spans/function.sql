CREATE FUNCTION mart.selected_spans(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL
) RETURNS TABLE (
    archive text,
    span text,
    since_at timestamp,
    until_at timestamp,
    longer_since_at timestamp,
    longer_until_at timestamp
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- The range by the clock of each archive: whole days, and the months and years that are wholly in it.
WITH ranges AS (
    SELECT
        archives.archive,
        found.since_day,
        found.until_local,
        date_trunc('month', found.since_day - interval '1 day') + interval '1 month' AS since_month,
        date_trunc('month', found.until_local) AS until_month,
        date_trunc('year', found.since_day - interval '1 day') + interval '1 year' AS since_year,
        date_trunc('year', found.until_local) AS until_year
    FROM mart.archives
    CROSS JOIN
        LATERAL (
            VALUES
            (
                date_trunc(
                    'day',
                    coalesce(selected_spans.since, timestamptz '-infinity') AT TIME ZONE archives.timezone
                ),
                coalesce(selected_spans.until, timestamptz 'infinity') AT TIME ZONE archives.timezone
            )
        ) AS found (since_day, until_local)
    WHERE
        (selected_spans.archive IS NULL OR archives.archive = selected_spans.archive)
        AND coalesce(selected_spans.since, timestamptz '-infinity')
        < coalesce(selected_spans.until, timestamptz 'infinity')
)

SELECT
    ranges.archive,
    parts.span,
    parts.since_at,
    parts.until_at,
    parts.longer_since_at,
    parts.longer_until_at
FROM ranges
CROSS JOIN
    LATERAL (
        VALUES
        ('day', ranges.since_day, ranges.until_local, ranges.since_month, ranges.until_month),
        ('month', ranges.since_month, ranges.until_month, ranges.since_year, ranges.until_year),
        ('year', ranges.since_year, ranges.until_year, NULL, NULL)
    ) AS parts (span, since_at, until_at, longer_since_at, longer_until_at)

$function$;
