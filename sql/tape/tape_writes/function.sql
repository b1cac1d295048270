CREATE FUNCTION mart.tape_writes(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    interface text,
    class_of_service text,
    file_key bigint,
    copy_number integer,
    fragment_number integer,
    vsn text,
    size_bytes bigint,
    written_at timestamptz,
    on_tape_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- CTA reports when a file was in the drive's buffer. It is on tape when the cartridge is unloaded, at the
-- latest.
WITH operations AS (
    SELECT
        operations.archive,
        operations.kind,
        operations.interface,
        operations.class_of_service,
        operations.capability_key AS file_key,
        operations.copy_number,
        operations.fragment_number,
        operations.vsn,
        operations.size_bytes,
        operations.last_event_at AS written_at,
        CASE
            WHEN operations.is_failed THEN NULL
            WHEN operations.interface = 'cta' THEN mounts.dismount_requested_at
            ELSE operations.transferred_at
        END AS on_tape_at
    FROM mart.tape_operations AS operations
    -- Prunes partitions: a mount begins before its files end, and a file ends at most two days after it.
    LEFT JOIN mart.mounts
        ON
            operations.mount_id = mounts.mount_id
            AND mounts.last_event_at
            >= coalesce(tape_writes.since, timestamptz '-infinity') - interval '3 days'
            AND mounts.first_event_at < coalesce(tape_writes.until, timestamptz 'infinity')
    WHERE
        operations.task = 'migration'
        AND operations.requester = 'client'
        AND (tape_writes.archive IS NULL OR operations.archive = tape_writes.archive)
        AND operations.last_event_at >= coalesce(tape_writes.since, timestamptz '-infinity')
        AND operations.last_event_at < coalesce(tape_writes.until, timestamptz 'infinity')
),

-- A log that has steps of tapes and migrations reports the same writes as both.
writes AS (
    SELECT * FROM operations
    UNION ALL
    SELECT
        migrations.archive,
        migrations.kind,
        migrations.interface,
        migrations.class_of_service,
        migrations.file_key,
        migrations.copy_number,
        NULL::integer AS fragment_number,
        migrations.vsn,
        migrations.size_bytes,
        migrations.migrated_at AS written_at,
        CASE WHEN NOT migrations.is_failed THEN migrations.migrated_at END AS on_tape_at
    FROM mart.migrations
    WHERE
        NOT EXISTS (
            SELECT FROM operations
            WHERE operations.archive = migrations.archive AND operations.interface = migrations.interface
        )
        AND (tape_writes.archive IS NULL OR migrations.archive = tape_writes.archive)
        AND migrations.migrated_at >= coalesce(tape_writes.since, timestamptz '-infinity')
        AND migrations.migrated_at < coalesce(tape_writes.until, timestamptz 'infinity')
)

SELECT
    writes.archive,
    writes.kind,
    writes.interface,
    writes.class_of_service,
    writes.file_key,
    writes.copy_number,
    writes.fragment_number,
    writes.vsn,
    writes.size_bytes,
    writes.written_at,
    writes.on_tape_at
FROM writes
WHERE
    (tape_writes.interface IS NULL OR writes.interface = tape_writes.interface)
    AND coalesce(tape_writes.direction, 'put') = 'put'
    -- Logs of writing to tape do not know the client.
    AND tape_writes.client IS NULL
    AND (
        tape_writes.class_of_service IS NULL OR writes.class_of_service = tape_writes.class_of_service
    )

$function$;
