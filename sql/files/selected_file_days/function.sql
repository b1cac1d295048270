CREATE FUNCTION mart.selected_file_days(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    is_fresh boolean DEFAULT FALSE,
    slice_number integer DEFAULT NULL,
    slice_count integer DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    source text,
    interface text,
    direction text,
    class_of_service text,
    put_count bigint,
    copy_count bigint,
    deleted_count bigint,
    overwritten_count bigint,
    unknown_size_count bigint,
    new_name_count bigint,
    unnamed_count bigint,
    put_bytes numeric,
    copied_bytes numeric,
    deleted_bytes numeric,
    overwritten_bytes numeric,
    age_bins smallint[],
    age_get_counts bigint[],
    age_unknown_size_counts bigint[],
    age_bytes numeric[],
    newer_event_count bigint,
    computed_at timestamptz,
    starts_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- The archives and local days that are asked for. An archive is answered from its recount if this is known
-- (`computed_at`), and otherwise by following its files again.
WITH archives AS (
    SELECT
        archives.archive,
        archives.kind,
        archives.timezone,
        recounts.newer_event_count,
        recounts.computed_at,
        (archives.retained_since AT TIME ZONE archives.timezone)::date AS retained_on,
        (coalesce(selected_file_days.since, timestamptz '-infinity') AT TIME ZONE archives.timezone)::date
            AS first_on,
        coalesce(selected_file_days.until, timestamptz 'infinity') AT TIME ZONE archives.timezone AS until
    FROM mart.archives
    LEFT JOIN mart.file_recounts AS recounts
        ON
            archives.archive = recounts.archive
            AND recounts.is_used
            AND selected_file_days.client IS NULL
            AND selected_file_days.is_fresh IS NOT TRUE
    WHERE
        (selected_file_days.archive IS NULL OR archives.archive = selected_file_days.archive)
        AND coalesce(selected_file_days.since, timestamptz '-infinity')
        < coalesce(selected_file_days.until, timestamptz 'infinity')
)

-- Days that are forgotten are always answered from the last recount that has seen them.
SELECT
    file_days.archive,
    file_days.kind,
    file_days.source,
    file_days.interface,
    file_days.direction,
    file_days.class_of_service,
    file_days.put_count,
    file_days.copy_count,
    file_days.deleted_count,
    file_days.overwritten_count,
    file_days.unknown_size_count,
    file_days.new_name_count,
    file_days.unnamed_count,
    file_days.put_bytes,
    file_days.copied_bytes,
    file_days.deleted_bytes,
    file_days.overwritten_bytes,
    file_days.age_bins,
    file_days.age_get_counts,
    file_days.age_unknown_size_counts,
    file_days.age_bytes,
    archives.newer_event_count,
    archives.computed_at,
    file_days.starts_on
FROM mart.file_days
INNER JOIN archives ON file_days.archive = archives.archive
WHERE
    (archives.computed_at IS NOT NULL OR file_days.starts_on < archives.retained_on)
    AND selected_file_days.client IS NULL
    AND file_days.starts_on >= archives.first_on
    AND file_days.starts_on < archives.until
    AND (selected_file_days.interface IS NULL OR file_days.interface = selected_file_days.interface)
    AND (selected_file_days.direction IS NULL OR file_days.direction = selected_file_days.direction)
    AND (
        selected_file_days.class_of_service IS NULL
        OR file_days.class_of_service = selected_file_days.class_of_service
    )

UNION ALL

-- Each event is a row of its own: whoever reads the rows adds them up.
SELECT
    archives.archive,
    archives.kind,
    changes.source,
    changes.interface,
    CASE changes.event WHEN 'get' THEN 'get' ELSE 'put' END AS direction,
    changes.class_of_service,
    (changes.event = 'put')::integer::bigint AS put_count,
    (changes.event = 'copy')::integer::bigint AS copy_count,
    (changes.event = 'delete')::integer::bigint AS deleted_count,
    (changes.event = 'overwrite')::integer::bigint AS overwritten_count,
    (changes.event <> 'get' AND changes.size_bytes IS NULL)::integer::bigint AS unknown_size_count,
    changes.is_name_new::integer::bigint AS new_name_count,
    changes.is_unnamed::integer::bigint AS unnamed_count,
    CASE WHEN changes.event = 'put' THEN coalesce(changes.size_bytes, 0) ELSE 0 END::numeric AS put_bytes,
    CASE WHEN changes.event = 'copy' THEN coalesce(changes.size_bytes, 0) ELSE 0 END::numeric AS copied_bytes,
    CASE WHEN changes.event = 'delete' THEN coalesce(changes.size_bytes, 0) ELSE 0 END::numeric
        AS deleted_bytes,
    CASE WHEN changes.event = 'overwrite' THEN coalesce(changes.size_bytes, 0) ELSE 0 END::numeric
        AS overwritten_bytes,
    CASE
        WHEN changes.event = 'get'
            THEN
                ARRAY[
                    mart.histogram_bin(
                        extract(EPOCH FROM changes.happened_at - changes.born_at)::double precision
                    )
                ]
        ELSE '{}'
    END AS age_bins,
    CASE WHEN changes.event = 'get' THEN ARRAY[1::bigint] ELSE '{}' END AS age_get_counts,
    CASE
        WHEN changes.event = 'get' THEN ARRAY[(changes.size_bytes IS NULL)::integer::bigint] ELSE '{}'
    END AS age_unknown_size_counts,
    CASE WHEN changes.event = 'get' THEN ARRAY[coalesce(changes.size_bytes, 0)::numeric] ELSE '{}' END
        AS age_bytes,
    NULL::bigint AS newer_event_count,
    NULL::timestamptz AS computed_at,
    found.starts_on
FROM archives
CROSS JOIN
    LATERAL (
        SELECT
            histories.source,
            histories.interface,
            CASE
                WHEN histories.event IN ('delete', 'overwrite') THEN histories.version_class
                ELSE histories.class_of_service
            END AS class_of_service,
            histories.event,
            CASE histories.event WHEN 'get' THEN histories.size_bytes ELSE histories.version_bytes END
                AS size_bytes,
            histories.is_name_new,
            FALSE AS is_unnamed,
            histories.born_at,
            histories.happened_at
        FROM
            -- Two days are more than the longest local day.
            mart.file_histories(
                archive => archives.archive,
                since => selected_file_days.since - interval '2 days',
                until => selected_file_days.until + interval '2 days',
                interface => selected_file_days.interface,
                direction => selected_file_days.direction,
                client => selected_file_days.client,
                slice_number => selected_file_days.slice_number,
                slice_count => selected_file_days.slice_count
            ) AS histories
        WHERE histories.event <> 'rename'
        UNION ALL
        -- Logs without file names show what was added, but never what it replaced.
        SELECT
            events.source,
            events.interface,
            CASE events.event
                WHEN 'delete' THEN nullif(events.class_of_service, '0')
                ELSE events.class_of_service
            END AS class_of_service,
            events.event,
            CASE WHEN NOT events.is_size_saturated THEN events.size_bytes END AS size_bytes,
            FALSE AS is_name_new,
            TRUE AS is_unnamed,
            NULL AS born_at,
            events.happened_at
        FROM mart.file_events AS events
        WHERE
            events.event IN ('put', 'copy', 'delete')
            AND events.file_key IS NULL
            AND events.archive = archives.archive
            AND events.happened_at
            >= coalesce(selected_file_days.since - interval '2 days', timestamptz '-infinity')
            AND events.happened_at
            < coalesce(selected_file_days.until + interval '2 days', timestamptz 'infinity')
            AND (selected_file_days.interface IS NULL OR events.interface = selected_file_days.interface)
            AND (selected_file_days.direction IS NULL OR selected_file_days.direction = 'put')
            AND (selected_file_days.client IS NULL OR events.client = selected_file_days.client)
            AND coalesce(selected_file_days.slice_number, 0) = 0
    ) AS changes
CROSS JOIN
    LATERAL (VALUES ((changes.happened_at AT TIME ZONE archives.timezone)::date)) AS found (starts_on)
WHERE
    archives.computed_at IS NULL
    AND found.starts_on >= archives.first_on
    AND found.starts_on < archives.until
    AND (
        selected_file_days.class_of_service IS NULL
        OR changes.class_of_service = selected_file_days.class_of_service
    )

$function$;
