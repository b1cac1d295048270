CREATE FUNCTION mart.file_histories(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    slice_number integer DEFAULT NULL,
    slice_count integer DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    source text,
    version_id bigint,
    event_number bigint,
    event_id bigint,
    event text,
    origin text,
    interface text,
    user_id integer,
    client text,
    class_of_service text,
    version_class text,
    file_key bigint,
    size_bytes bigint,
    version_bytes bigint,
    is_name_new boolean,
    born_at timestamptz,
    happened_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- The names of renamed files, whose histories are all in slice 0.
WITH RECURSIVE renamed AS (
    SELECT found.file_key
    FROM mart.file_events AS found
    WHERE
        file_histories.slice_count IS NOT NULL
        AND (file_histories.archive IS NULL OR found.archive = file_histories.archive)
        AND found.event = 'rename'
    UNION
    SELECT found.new_file_key AS file_key
    FROM mart.file_events AS found
    WHERE
        file_histories.slice_count IS NOT NULL
        AND (file_histories.archive IS NULL OR found.archive = file_histories.archive)
        AND found.event = 'rename'
),

-- Events are read from the first one on, whatever `since` is, because a file's history may begin before the
-- range.
events AS (
    SELECT found.*
    FROM mart.file_events AS found
    LEFT JOIN renamed
        ON CASE found.event WHEN 'copy' THEN found.new_file_key ELSE found.file_key END = renamed.file_key
    WHERE
        (file_histories.archive IS NULL OR found.archive = file_histories.archive)
        AND found.happened_at < coalesce(file_histories.until, timestamptz 'infinity')
        AND found.file_key IS NOT NULL
        -- A copy only begins a file, the one with the new name.
        AND (
            file_histories.slice_count IS NULL
            OR CASE
                WHEN renamed.file_key IS NOT NULL THEN 0
                WHEN found.event = 'copy' THEN 1 + abs(mod(found.new_file_key, file_histories.slice_count))
                ELSE 1 + abs(mod(found.file_key, file_histories.slice_count))
            END = file_histories.slice_number
        )
),

-- What each event does to a name. A rename ends the old meaning of one name and begins a meaning of another;
-- a copy only begins a meaning; a get changes nothing.
steps AS (
    SELECT
        events.archive,
        events.event_id,
        events.file_key,
        events.log_file_id,
        events.line_number,
        events.happened_at,
        CASE
            WHEN events.event IN ('put', 'delete') THEN events.event
            WHEN events.event = 'rename' THEN 'leave'
            ELSE 'get'
        END AS step
    FROM events
    WHERE
        events.event <> 'copy'
        AND (events.event <> 'rename' OR events.new_file_key <> events.file_key)
    UNION ALL
    SELECT
        events.archive,
        events.event_id,
        events.new_file_key AS file_key,
        events.log_file_id,
        events.line_number,
        events.happened_at,
        CASE events.event WHEN 'copy' THEN 'put' ELSE 'arrive' END AS step
    FROM events
    WHERE events.new_file_key IS NOT NULL AND events.new_file_key <> events.file_key
),

-- Between two changes a name refers to one file. These spans of a name are numbered. Within a second, the
-- order of the lines decides.
numbered AS (
    SELECT
        steps.*,
        dense_rank() OVER (ORDER BY steps.archive, steps.file_key) AS name_number,
        count(*) FILTER (WHERE steps.step <> 'get') OVER (of_name ROWS UNBOUNDED PRECEDING) AS span,
        row_number() OVER of_name = 1 AS is_first
    FROM steps
    WINDOW
        of_name AS (
            PARTITION BY steps.archive, steps.file_key
            ORDER BY steps.happened_at, steps.log_file_id, steps.line_number, steps.event_id
        )
),

-- The span that an event found. The event ends this span, unless it is a get. A span's name and number form
-- its key.
found AS (
    SELECT
        numbered.*,
        (numbered.name_number << 32) + numbered.span AS span_key,
        (numbered.name_number << 32)
        + CASE numbered.step WHEN 'get' THEN numbered.span ELSE numbered.span - 1 END AS found_key
    FROM numbered
),

-- Spans in which a file exists: it was put or renamed to this name, or an operation shows that it existed.
begun AS (
    SELECT
        found.span_key,
        found.step,
        found.event_id
    FROM found
    WHERE found.step IN ('put', 'arrive')
),

presumed AS (
    SELECT
        found.found_key AS span_key,
        'presumed' AS step,
        (array_agg(found.event_id ORDER BY found.happened_at, found.log_file_id, found.line_number))[1]
            AS event_id
    FROM found
    LEFT JOIN begun ON found.found_key = begun.span_key
    WHERE begun.span_key IS NULL AND found.step IN ('get', 'delete', 'leave')
    GROUP BY found.found_key
),

leaving AS (
    SELECT * FROM found
    WHERE step = 'leave'
),

spans AS (
    SELECT
        filled.*,
        leaving.event_id AS rename_id
    FROM (
        SELECT * FROM begun
        UNION ALL
        SELECT * FROM presumed
    ) AS filled
    LEFT JOIN leaving ON filled.span_key = leaving.found_key
),

arrived AS (
    SELECT * FROM spans
    WHERE step = 'arrive'
),

-- A file's history continues under its new name. The recursion takes as many rounds as the most often renamed
-- file has renames.
versions AS (
    SELECT
        spans.span_key,
        spans.event_id AS version_id,
        spans.step = 'presumed' AS is_presumed,
        spans.rename_id
    FROM spans
    WHERE spans.step <> 'arrive'
    UNION ALL
    SELECT
        spans.span_key,
        versions.version_id,
        versions.is_presumed,
        spans.rename_id
    FROM versions
    INNER JOIN arrived AS spans ON versions.rename_id = spans.event_id
),

-- What an event did to the file that it found, and the file that it made.
effects AS (
    SELECT
        versions.version_id,
        versions.is_presumed,
        found.event_id,
        found.file_key,
        CASE
            WHEN found.step IN ('put', 'arrive') THEN 'overwrite'
            WHEN found.step = 'leave' THEN 'rename'
            ELSE found.step
        END AS event,
        FALSE AS is_name_new,
        1 AS place
    FROM found
    INNER JOIN versions ON found.found_key = versions.span_key
    UNION ALL
    SELECT
        found.event_id AS version_id,
        FALSE AS is_presumed,
        found.event_id,
        found.file_key,
        'put' AS event,
        found.is_first AS is_name_new,
        0 AS place
    FROM found
    WHERE found.step = 'put'
),

described AS (
    SELECT
        events.archive,
        events.kind,
        events.source,
        effects.version_id,
        effects.event_id,
        CASE WHEN effects.event = 'put' THEN events.event ELSE effects.event END AS event,
        effects.is_presumed,
        events.interface,
        events.user_id,
        events.client,
        events.class_of_service,
        effects.file_key,
        -- An event that overwrites or renames a file does not give its size.
        CASE
            WHEN effects.event NOT IN ('overwrite', 'rename') AND NOT events.is_size_saturated
                THEN events.size_bytes
        END AS size_bytes,
        effects.is_name_new,
        -- A put or copy decides. Of a file from before the log, its gets and its delete may say it. HSI's
        -- deletes say 0 whatever the class was, and an event that overwrites gives the class of the new file.
        CASE
            WHEN effects.event = 'put' OR (effects.is_presumed AND effects.event = 'get')
                THEN events.class_of_service
            WHEN effects.is_presumed AND effects.event = 'delete' THEN nullif(events.class_of_service, '0')
        END AS known_class,
        events.happened_at,
        row_number() OVER (
            PARTITION BY events.archive, effects.version_id
            ORDER BY effects.place, events.happened_at, events.log_file_id, events.line_number
        ) AS event_number
    FROM effects
    INNER JOIN events ON effects.event_id = events.event_id
),

aged AS (
    SELECT
        described.*,
        CASE
            WHEN described.is_presumed THEN 'not in the log'
            ELSE first_value(described.event) OVER lives
        END AS origin,
        CASE WHEN NOT described.is_presumed THEN first_value(described.happened_at) OVER lives END AS born_at,
        -- The size when the file was put; otherwise its size when it was last got, or the size that its
        -- delete reports.
        CASE
            WHEN NOT described.is_presumed AND first_value(described.size_bytes) OVER lives IS NOT NULL
                THEN first_value(described.size_bytes) OVER lives
            ELSE max(described.size_bytes) OVER lives
        END AS version_bytes,
        (array_agg(described.known_class) FILTER (WHERE described.known_class IS NOT NULL) OVER lives)[1]
            AS version_class
    FROM described
    WINDOW
        lives AS (
            PARTITION BY described.archive, described.version_id
            ORDER BY described.event_number
            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
        )
)

SELECT
    aged.archive,
    aged.kind,
    aged.source,
    aged.version_id,
    aged.event_number,
    aged.event_id,
    aged.event,
    aged.origin,
    aged.interface,
    aged.user_id,
    aged.client,
    aged.class_of_service,
    aged.version_class,
    aged.file_key,

    aged.size_bytes,
    aged.version_bytes,

    aged.is_name_new,

    aged.born_at,
    aged.happened_at
FROM aged
WHERE
    aged.happened_at >= coalesce(file_histories.since, timestamptz '-infinity')
    AND (file_histories.interface IS NULL OR aged.interface = file_histories.interface)
    AND (
        file_histories.direction IS NULL
        OR CASE aged.event WHEN 'get' THEN 'get' ELSE 'put' END = file_histories.direction
    )
    AND (file_histories.client IS NULL OR aged.client = file_histories.client)
    AND (file_histories.class_of_service IS NULL OR aged.class_of_service = file_histories.class_of_service)

$function$;
