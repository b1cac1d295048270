CREATE FUNCTION mart.file_fates(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    grouped_by text[] DEFAULT '{}',
    after_days double precision[] DEFAULT '{30,90,365}'
) RETURNS TABLE (
    archive text,
    kind text,
    user_id integer,
    class_of_service text,
    after_days double precision,
    put_count bigint,
    put_bytes numeric,
    followed_count bigint,
    followed_bytes numeric,
    read_count bigint,
    read_bytes numeric,
    ended_count bigint,
    ended_bytes numeric,
    never_read_ratio double precision,
    never_read_bytes_ratio double precision,
    estimated_read_ratio double precision,
    estimated_read_bytes_ratio double precision,
    estimated_survival_ratio double precision,
    estimated_survival_bytes_ratio double precision,
    starts_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH logs AS (
    SELECT
        events.archive,
        archives.timezone,
        max(events.happened_at) AS ends_at
    FROM mart.file_events AS events
    INNER JOIN mart.archives ON events.archive = archives.archive
    WHERE
        (file_fates.archive IS NULL OR events.archive = file_fates.archive)
        AND events.happened_at < coalesce(file_fates.until, timestamptz 'infinity')
    GROUP BY events.archive, archives.timezone
),

-- Only the columns of the groupings that are asked for have values.
files AS (
    SELECT
        versions.archive,
        versions.kind,
        CASE WHEN 'user' = any(file_fates.grouped_by) THEN versions.user_id END AS user_id,
        CASE WHEN 'class_of_service' = any(file_fates.grouped_by) THEN versions.class_of_service END
            AS class_of_service,
        coalesce(versions.size_bytes, 0)::numeric AS size_bytes,
        extract(EPOCH FROM versions.first_get_at - versions.put_at)::double precision AS read_s,
        versions.lifetime_s,
        extract(EPOCH FROM logs.ends_at - versions.put_at)::double precision AS followed_s,
        CASE
            WHEN 'month' = any(file_fates.grouped_by)
                THEN date_trunc('month', versions.put_at AT TIME ZONE logs.timezone)::date
        END AS starts_on
    FROM
        mart.file_versions(
            archive => file_fates.archive,
            since => file_fates.since,
            until => file_fates.until,
            interface => file_fates.interface,
            client => file_fates.client,
            class_of_service => file_fates.class_of_service
        ) AS versions
    INNER JOIN logs ON versions.archive = logs.archive
    WHERE
        versions.put_at IS NOT NULL
        AND coalesce(file_fates.direction, 'put') = 'put'
        AND file_fates.grouped_by <@ ARRAY['user', 'class_of_service', 'month']
),

groups AS (
    SELECT
        row_number() OVER () AS group_number,
        files.archive,
        files.kind,
        files.user_id,
        files.class_of_service,
        array_agg(files.size_bytes) AS sizes_bytes,
        array_agg(files.read_s) AS reads_s,
        array_agg(files.lifetime_s) AS lifetimes_s,
        array_agg(files.followed_s) AS followed_s,
        array_agg(1::numeric) AS ones,
        array_agg(coalesce(files.read_s, files.lifetime_s, files.followed_s)) AS unread_s,
        array_agg(
            CASE
                WHEN files.read_s IS NOT NULL THEN 1
                WHEN files.lifetime_s IS NOT NULL THEN 2
                ELSE 0
            END
        ) AS unread_ends,
        array_agg(coalesce(files.lifetime_s, files.followed_s)) AS lives_s,
        array_agg((files.lifetime_s IS NOT NULL)::integer) AS life_ends,
        files.starts_on
    FROM files
    GROUP BY files.archive, files.kind, files.user_id, files.class_of_service, files.starts_on
),

ages AS (
    SELECT
        asked_for.after_days,
        asked_for.after_days * 86400 AS after_s
    FROM unnest(file_fates.after_days) AS asked_for (after_days)
),

asked AS (
    SELECT array_agg(ages.after_s) AS ages_s FROM ages
),

-- All ages of a group are estimated together, because each estimate sorts all its files.
estimates AS (
    SELECT
        groups.group_number,
        read_files.after_s,
        read_files.incidence_ratio AS read_ratio,
        NULL::double precision AS read_bytes_ratio,
        NULL::double precision AS survival_ratio,
        NULL::double precision AS survival_bytes_ratio
    FROM groups
    CROSS JOIN asked
    CROSS JOIN
        LATERAL mart.incidences_at(groups.unread_s, groups.unread_ends, groups.ones, asked.ages_s)
            AS read_files
    UNION ALL
    SELECT
        groups.group_number,
        read_bytes.after_s,
        NULL AS read_ratio,
        read_bytes.incidence_ratio AS read_bytes_ratio,
        NULL AS survival_ratio,
        NULL AS survival_bytes_ratio
    FROM groups
    CROSS JOIN asked
    CROSS JOIN
        LATERAL mart.incidences_at(groups.unread_s, groups.unread_ends, groups.sizes_bytes, asked.ages_s)
            AS read_bytes
    UNION ALL
    SELECT
        groups.group_number,
        lives.after_s,
        NULL AS read_ratio,
        NULL AS read_bytes_ratio,
        lives.survival_ratio,
        NULL AS survival_bytes_ratio
    FROM groups
    CROSS JOIN asked
    CROSS JOIN
        LATERAL mart.incidences_at(groups.lives_s, groups.life_ends, groups.ones, asked.ages_s) AS lives
    UNION ALL
    SELECT
        groups.group_number,
        lives_of_bytes.after_s,
        NULL AS read_ratio,
        NULL AS read_bytes_ratio,
        NULL AS survival_ratio,
        lives_of_bytes.survival_ratio AS survival_bytes_ratio
    FROM groups
    CROSS JOIN asked
    CROSS JOIN
        LATERAL mart.incidences_at(groups.lives_s, groups.life_ends, groups.sizes_bytes, asked.ages_s)
            AS lives_of_bytes
),

estimated AS (
    SELECT
        estimates.group_number,
        estimates.after_s,
        max(estimates.read_ratio) AS read_ratio,
        max(estimates.read_bytes_ratio) AS read_bytes_ratio,
        max(estimates.survival_ratio) AS survival_ratio,
        max(estimates.survival_bytes_ratio) AS survival_bytes_ratio
    FROM estimates
    GROUP BY estimates.group_number, estimates.after_s
)

SELECT
    groups.archive,
    groups.kind,
    groups.user_id,
    groups.class_of_service,

    ages.after_days,
    cardinality(groups.ones)::bigint AS put_count,
    counts.put_bytes,
    counts.followed_count,
    counts.followed_bytes,
    counts.read_count,
    counts.read_bytes,
    counts.ended_count,
    counts.ended_bytes,
    1 - counts.read_count / nullif(counts.followed_count, 0)::double precision AS never_read_ratio,
    (1 - counts.read_bytes / nullif(counts.followed_bytes, 0))::double precision AS never_read_bytes_ratio,
    estimated.read_ratio AS estimated_read_ratio,
    estimated.read_bytes_ratio AS estimated_read_bytes_ratio,
    estimated.survival_ratio AS estimated_survival_ratio,
    estimated.survival_bytes_ratio AS estimated_survival_bytes_ratio,

    groups.starts_on
FROM groups
CROSS JOIN ages
CROSS JOIN
    LATERAL (
        SELECT
            sum(found.size_bytes) AS put_bytes,
            count(*) FILTER (WHERE found.is_followed) AS followed_count,
            coalesce(sum(found.size_bytes) FILTER (WHERE found.is_followed), 0) AS followed_bytes,
            count(*) FILTER (WHERE found.is_followed AND found.read_s <= ages.after_s) AS read_count,
            coalesce(
                sum(found.size_bytes) FILTER (WHERE found.is_followed AND found.read_s <= ages.after_s), 0
            ) AS read_bytes,
            count(*) FILTER (WHERE found.is_followed AND found.lifetime_s <= ages.after_s) AS ended_count,
            coalesce(
                sum(found.size_bytes) FILTER (WHERE found.is_followed AND found.lifetime_s <= ages.after_s), 0
            ) AS ended_bytes
        FROM (
            SELECT
                given.size_bytes,
                given.read_s,
                given.lifetime_s,
                given.followed_s >= ages.after_s AS is_followed
            FROM
                unnest(groups.sizes_bytes, groups.reads_s, groups.lifetimes_s, groups.followed_s)
                    AS given (size_bytes, read_s, lifetime_s, followed_s)
        ) AS found
    ) AS counts
LEFT JOIN estimated ON groups.group_number = estimated.group_number AND ages.after_s = estimated.after_s

$function$;
