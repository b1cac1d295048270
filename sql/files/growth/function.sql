CREATE FUNCTION mart.growth(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    is_fresh boolean DEFAULT FALSE,
    period text DEFAULT 'month',
    grouped_by text DEFAULT 'all'
) RETURNS TABLE (
    archive text,
    kind text,
    period text,
    grouped_by text,
    class_of_service text,
    day_count bigint,
    added_count bigint,
    removed_count bigint,
    unknown_size_count bigint,
    new_name_count bigint,
    unnamed_count bigint,
    opening_bytes numeric,
    added_bytes numeric,
    removed_bytes numeric,
    net_bytes numeric,
    held_bytes numeric,
    held_count numeric,
    listed_bytes numeric,
    listed_count numeric,
    drift_bytes numeric,
    newer_event_count bigint,
    computed_at timestamptz,
    opening_listed_at timestamptz,
    listed_at timestamptz,
    starts_on date,
    ends_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH found AS MATERIALIZED (
    SELECT
        found.archive,
        found.kind,
        found.source,
        found.class_of_service,
        sum(found.put_count + found.copy_count) AS added_count,
        sum(found.deleted_count + found.overwritten_count) AS removed_count,
        sum(found.unknown_size_count) AS unknown_size_count,
        sum(found.new_name_count) AS new_name_count,
        sum(found.unnamed_count) AS unnamed_count,
        sum(found.put_bytes + found.copied_bytes) AS added_bytes,
        sum(found.deleted_bytes + found.overwritten_bytes) AS removed_bytes,
        max(found.newer_event_count) AS newer_event_count,
        max(found.computed_at) AS computed_at,
        found.starts_on
    FROM
        mart.selected_file_days(
            archive => growth.archive, until => growth.until, is_fresh => growth.is_fresh
        ) AS found
    GROUP BY found.archive, found.kind, found.source, found.class_of_service, found.starts_on
),

-- A listing is the opening balance only if all events of these sources come after it.
spans AS (
    SELECT
        found.archive,
        found.kind,
        archives.timezone,
        max(found.newer_event_count) AS newer_event_count,
        max(found.computed_at) AS computed_at,
        coalesce(
            min(states.first_event_at), min(found.starts_on)::timestamp AT TIME ZONE archives.timezone
        ) AS first_event_at,
        min(found.starts_on) AS first_on,
        max(found.starts_on) AS last_on,
        (coalesce(growth.since, timestamptz '-infinity') AT TIME ZONE archives.timezone)::date AS since_on
    FROM found
    INNER JOIN mart.archives ON found.archive = archives.archive
    INNER JOIN mart.source_states AS states ON found.archive = states.archive AND found.source = states.source
    GROUP BY found.archive, found.kind, archives.timezone
),

listed AS (
    SELECT
        totals.*,
        totals.listed_at AT TIME ZONE spans.timezone AS listed_local,
        max(totals.listed_at) FILTER (WHERE totals.listed_at <= spans.first_event_at)
            OVER (PARTITION BY totals.archive) AS opening_at
    FROM mart.listed_totals(archive => growth.archive) AS totals
    INNER JOIN spans ON totals.archive = spans.archive
),

listings AS MATERIALIZED (
    SELECT
        listed.archive,
        groups.class_of_service,
        CASE WHEN bool_and(listed.size_bytes IS NOT NULL) THEN sum(listed.size_bytes) END AS size_bytes,
        CASE WHEN bool_and(listed.file_count IS NOT NULL) THEN sum(listed.file_count) END AS file_count,
        listed.opening_at,
        listed.listed_at,
        listed.listed_local
    FROM listed
    CROSS JOIN
        LATERAL (
            VALUES (CASE WHEN growth.grouped_by = 'class_of_service' THEN listed.class_of_service END)
        ) AS groups (class_of_service)
    WHERE growth.class_of_service IS NULL OR listed.class_of_service = growth.class_of_service
    GROUP BY
        listed.archive, groups.class_of_service, listed.opening_at, listed.listed_at, listed.listed_local
),

changes AS (
    SELECT
        found.archive,
        groups.class_of_service,
        sum(found.added_count) AS added_count,
        sum(found.removed_count) AS removed_count,
        sum(found.unknown_size_count) AS unknown_size_count,
        sum(found.new_name_count) AS new_name_count,
        sum(found.unnamed_count) AS unnamed_count,
        sum(found.added_bytes) AS added_bytes,
        sum(found.removed_bytes) AS removed_bytes,
        found.starts_on
    FROM found
    CROSS JOIN
        LATERAL (
            VALUES (CASE WHEN growth.grouped_by = 'class_of_service' THEN found.class_of_service END)
        ) AS groups (class_of_service)
    WHERE growth.class_of_service IS NULL OR found.class_of_service = growth.class_of_service
    GROUP BY found.archive, groups.class_of_service, found.starts_on
),

classes AS (
    SELECT
        changes.archive,
        changes.class_of_service
    FROM changes
    UNION
    SELECT
        listings.archive,
        listings.class_of_service
    FROM listings
),

-- Every day from the first to the last, with what was held at its end.
days AS (
    SELECT
        classes.archive,
        spans.kind,
        classes.class_of_service,
        spans.newer_event_count,
        spans.computed_at,
        coalesce(changes.added_count, 0) AS added_count,
        coalesce(changes.removed_count, 0) AS removed_count,
        coalesce(changes.unknown_size_count, 0) AS unknown_size_count,
        coalesce(changes.new_name_count, 0) AS new_name_count,
        coalesce(changes.unnamed_count, 0) AS unnamed_count,
        coalesce(changes.added_bytes, 0) AS added_bytes,
        coalesce(changes.removed_bytes, 0) AS removed_bytes,
        opening.size_bytes + sum(coalesce(changes.added_bytes - changes.removed_bytes, 0)) OVER in_time
            AS held_bytes,
        opening.file_count + sum(coalesce(changes.added_count - changes.removed_count, 0)) OVER in_time
            AS held_count,
        opening.opening_at,
        spans.since_on,
        series.day::date AS starts_on
    FROM classes
    INNER JOIN spans ON classes.archive = spans.archive
    CROSS JOIN
        LATERAL generate_series(
            spans.first_on::timestamp, spans.last_on::timestamp, interval '1 day'
        ) AS series (day)
    LEFT JOIN changes
        ON
            classes.archive = changes.archive
            AND classes.class_of_service IS NOT DISTINCT FROM changes.class_of_service
            AND changes.starts_on = series.day::date
    LEFT JOIN listings AS opening
        ON
            classes.archive = opening.archive
            AND classes.class_of_service IS NOT DISTINCT FROM opening.class_of_service
            AND opening.listed_at = opening.opening_at
    WINDOW in_time AS (PARTITION BY classes.archive, classes.class_of_service ORDER BY series.day)
),

-- The last listing of each day.
later_listings AS (
    SELECT DISTINCT ON (listings.archive, listings.class_of_service, listings.listed_local::date)
        listings.*,
        listings.listed_local::date AS listed_on
    FROM listings
    WHERE listings.listed_at IS DISTINCT FROM listings.opening_at
    ORDER BY
        listings.archive ASC,
        listings.class_of_service ASC,
        listings.listed_local::date ASC,
        listings.listed_at DESC
),

-- Changes are only known by day, so a listing is compared with the balance at the nearest midnight.
compared AS (
    SELECT
        days.*,
        days.added_bytes - days.removed_bytes AS net_bytes,
        later.size_bytes AS listed_bytes,
        later.file_count AS listed_count,
        later.size_bytes
        - days.held_bytes
        + CASE
            WHEN later.listed_local < days.starts_on + interval '12 hours'
                THEN days.added_bytes - days.removed_bytes
            ELSE 0
        END AS drift_bytes,
        later.listed_at
    FROM days
    LEFT JOIN later_listings AS later
        ON
            days.archive = later.archive
            AND days.class_of_service IS NOT DISTINCT FROM later.class_of_service
            AND days.starts_on = later.listed_on
    WHERE days.starts_on >= days.since_on
)

SELECT
    compared.archive,
    compared.kind,
    growth.period,
    growth.grouped_by,
    compared.class_of_service,

    count(*) AS day_count,
    sum(compared.added_count)::bigint AS added_count,
    sum(compared.removed_count)::bigint AS removed_count,
    sum(compared.unknown_size_count)::bigint AS unknown_size_count,
    sum(compared.new_name_count)::bigint AS new_name_count,
    sum(compared.unnamed_count)::bigint AS unnamed_count,

    (array_agg(compared.held_bytes - compared.net_bytes ORDER BY compared.starts_on))[1] AS opening_bytes,
    sum(compared.added_bytes) AS added_bytes,
    sum(compared.removed_bytes) AS removed_bytes,
    sum(compared.net_bytes) AS net_bytes,
    (array_agg(compared.held_bytes ORDER BY compared.starts_on DESC))[1] AS held_bytes,
    (array_agg(compared.held_count ORDER BY compared.starts_on DESC))[1] AS held_count,

    (array_agg(compared.listed_bytes ORDER BY compared.listed_at DESC NULLS LAST))[1] AS listed_bytes,
    (array_agg(compared.listed_count ORDER BY compared.listed_at DESC NULLS LAST))[1] AS listed_count,
    (array_agg(compared.drift_bytes ORDER BY compared.listed_at DESC NULLS LAST))[1] AS drift_bytes,

    max(compared.newer_event_count) AS newer_event_count,
    max(compared.computed_at) AS computed_at,
    max(compared.opening_at) AS opening_listed_at,
    max(compared.listed_at) AS listed_at,
    min(compared.starts_on) AS starts_on,
    max(compared.starts_on) AS ends_on
FROM compared
WHERE
    growth.period IN ('day', 'week', 'month')
    AND growth.grouped_by IN ('all', 'class_of_service')
GROUP BY
    compared.archive,
    compared.kind,
    compared.class_of_service,
    date_trunc(growth.period, compared.starts_on::timestamp)

$function$;
