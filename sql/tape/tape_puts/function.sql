CREATE FUNCTION mart.tape_puts(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    required_copy_count integer DEFAULT 1
) RETURNS TABLE (
    archive text,
    kind text,
    timezone text,
    source text,
    transfer_id bigint,
    interface text,
    user_id integer,
    client text,
    class_of_service text,
    state text,
    size_bytes bigint,
    required_count integer,
    to_tape_s double precision,
    watched_s double precision,
    put_at timestamptz,
    copies_at timestamptz[],
    on_tape_at timestamptz,
    ended_at timestamptz,
    tape_log_begins_at timestamptz,
    tape_log_ends_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH writes AS (
    SELECT * FROM mart.tape_writes(archive => tape_puts.archive)
),

logs AS (
    SELECT
        writes.archive,
        min(writes.written_at) AS begins_at,
        max(writes.written_at) AS ends_at
    FROM writes
    GROUP BY writes.archive
),

-- All puts are read, whatever the range, because one of them may show that a source's files can be found
-- among those on tape.
puts AS (
    SELECT
        requests.archive,
        requests.kind,
        requests.timezone,
        requests.source,
        requests.transfer_id,
        requests.start_id,
        requests.interface,
        requests.user_id,
        requests.client,
        requests.class_of_service,
        coalesce(requests.capability_key, requests.file_key) AS file_key,
        CASE WHEN NOT requests.is_size_saturated THEN requests.size_bytes END AS size_bytes,
        requests.ended_at AS put_at,
        versions.fate,
        versions.ended_at,
        logs.begins_at,
        logs.ends_at,
        row_number() OVER () AS put_number
    FROM mart.selected_requests(archive => tape_puts.archive, direction => 'put') AS requests
    INNER JOIN logs ON requests.archive = logs.archive
    LEFT JOIN mart.file_versions(archive => tape_puts.archive) AS versions
        ON requests.transfer_id = versions.version_id
    WHERE NOT requests.is_failed AND requests.is_of_parts IS NOT TRUE
),

-- If a fragment or a copy was written more than once, the first time counts.
fragments AS (
    SELECT
        puts.put_number,
        writes.copy_number,
        writes.fragment_number,
        min(writes.on_tape_at) AS on_tape_at
    FROM puts
    INNER JOIN writes
        ON
            puts.archive = writes.archive
            AND puts.file_key = writes.file_key
            AND puts.put_at <= writes.written_at
            AND coalesce(puts.ended_at, timestamptz 'infinity') > writes.written_at
    GROUP BY puts.put_number, writes.copy_number, writes.fragment_number
),

copies AS (
    SELECT
        fragments.put_number,
        CASE WHEN count(*) = count(fragments.on_tape_at) THEN max(fragments.on_tape_at) END AS on_tape_at
    FROM fragments
    GROUP BY fragments.put_number, fragments.copy_number
),

copied AS (
    SELECT
        copies.put_number,
        array_agg(copies.on_tape_at ORDER BY copies.on_tape_at) AS copies_at
    FROM copies
    WHERE copies.on_tape_at IS NOT NULL
    GROUP BY copies.put_number
),

required AS (
    SELECT
        puts.*,
        coalesce(requested.copy_count, tape_puts.required_copy_count) AS required_count,
        coalesce(copied.copies_at, '{}') AS copies_at,
        puts.put_at >= puts.begins_at
        AND bool_or(copied.put_number IS NOT NULL) OVER (PARTITION BY puts.archive, puts.source) AS is_known
    FROM puts
    LEFT JOIN mart.requested_copies AS requested ON puts.start_id = requested.start_id
    LEFT JOIN copied ON puts.put_number = copied.put_number
),

stated AS (
    SELECT
        required.*,
        required.copies_at[required.required_count] AS on_tape_at,
        CASE
            WHEN NOT required.is_known OR required.file_key IS NULL THEN 'unknown'
            WHEN required.copies_at[required.required_count] IS NOT NULL THEN 'on tape'
            WHEN required.ended_at IS NOT NULL THEN required.fate
            ELSE 'waiting'
        END AS state
    FROM required
)

SELECT
    stated.archive,
    stated.kind,
    stated.timezone,
    stated.source,
    stated.transfer_id,
    stated.interface,
    stated.user_id,
    stated.client,
    stated.class_of_service,
    stated.state,

    stated.size_bytes,
    stated.required_count,
    CASE
        WHEN stated.state = 'on tape' THEN extract(EPOCH FROM stated.on_tape_at - stated.put_at)
    END::double precision AS to_tape_s,
    CASE
        WHEN stated.state <> 'unknown'
            THEN
                greatest(
                    extract(
                        EPOCH FROM
                        coalesce(stated.on_tape_at, stated.ended_at, stated.ends_at) - stated.put_at
                    ),
                    0
                )
    END::double precision AS watched_s,

    stated.put_at,
    stated.copies_at,
    stated.on_tape_at,
    stated.ended_at,
    stated.begins_at AS tape_log_begins_at,
    stated.ends_at AS tape_log_ends_at
FROM stated
WHERE
    stated.put_at >= coalesce(tape_puts.since, timestamptz '-infinity')
    AND stated.put_at < coalesce(tape_puts.until, timestamptz 'infinity')
    AND (tape_puts.interface IS NULL OR stated.interface = tape_puts.interface)
    AND coalesce(tape_puts.direction, 'put') = 'put'
    AND (tape_puts.client IS NULL OR stated.client = tape_puts.client)
    AND (tape_puts.class_of_service IS NULL OR stated.class_of_service = tape_puts.class_of_service)

$function$;
