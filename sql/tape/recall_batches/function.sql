CREATE FUNCTION mart.recall_batches(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    together_s double precision DEFAULT 60
) RETURNS TABLE (
    archive text,
    kind text,
    tape_type text,
    recall_count bigint,
    volume_count bigint,
    unasked_count bigint,
    mounted_count bigint,
    mount_count bigint,
    batchable_count bigint,
    batchable_mount_count bigint,
    together_count bigint,
    together_group_count bigint,
    starts_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- A cartridge is in one drive at a time, so only its last mount before this one may have served a recall.
WITH mounts AS (
    SELECT
        mounts.archive,
        mounts.mount_id,
        lag(coalesce(mounts.dismount_requested_at, mounts.dismounted_at, mounts.last_event_at)) OVER (
            PARTITION BY mounts.vsn, mounts.archive
            ORDER BY coalesce(mounts.mounted_at, mounts.positioned_at, mounts.last_event_at), mounts.mount_id
        ) AS last_mount_until
    FROM mart.mounts
    WHERE
        mounts.drive IS NOT NULL
        AND (recall_batches.archive IS NULL OR mounts.archive = recall_batches.archive)
        AND mounts.last_event_at >= coalesce(
            recall_batches.since - interval '7 days', timestamptz '-infinity'
        )
        AND mounts.first_event_at < coalesce(
            recall_batches.until + interval '4 days', timestamptz 'infinity'
        )
),

recalls AS (
    SELECT
        selected.archive,
        selected.kind,
        selected.tape_type,
        selected.vsn,
        selected.asked_at,
        mounts.mount_id,
        mounts.mount_id IS NOT NULL AND coalesce(selected.asked_at <= mounts.last_mount_until, FALSE)
            AS is_batchable,
        row_number() OVER (
            PARTITION BY mounts.mount_id ORDER BY selected.ended_at, selected.operation_id
        ) AS place,
        coalesce(
            extract(EPOCH FROM selected.asked_at - lag(selected.asked_at) OVER one_volume)
            <= recall_batches.together_s,
            FALSE
        ) AS is_after_another,
        coalesce(
            extract(EPOCH FROM lead(selected.asked_at) OVER one_volume - selected.asked_at)
            <= recall_batches.together_s,
            FALSE
        ) AS is_before_another,
        (selected.ended_at AT TIME ZONE selected.timezone)::date AS starts_on
    FROM
        mart.tape_recalls(
            archive => recall_batches.archive,
            since => recall_batches.since,
            until => recall_batches.until,
            interface => recall_batches.interface,
            direction => recall_batches.direction,
            client => recall_batches.client,
            class_of_service => recall_batches.class_of_service
        ) AS selected
    LEFT JOIN mounts ON selected.mount_id = mounts.mount_id
    WHERE selected.is_last AND selected.vsn IS NOT NULL
    WINDOW
        one_volume AS (
            PARTITION BY selected.vsn, selected.archive
            ORDER BY selected.asked_at, selected.operation_id
        )
),

judged AS (
    SELECT
        recalls.*,
        -- A mount belongs to the day of its first recall.
        recalls.mount_id IS NOT NULL AND recalls.place = 1 AS is_first_of_mount,
        bool_and(recalls.is_batchable) OVER (PARTITION BY recalls.mount_id) AS is_mount_batchable
    FROM recalls
)

SELECT
    judged.archive,
    judged.kind,
    judged.tape_type,

    count(*) AS recall_count,
    count(DISTINCT judged.vsn) AS volume_count,
    count(*) FILTER (WHERE judged.asked_at IS NULL) AS unasked_count,
    count(judged.mount_id) AS mounted_count,
    count(*) FILTER (WHERE judged.is_first_of_mount) AS mount_count,
    -- Without a mount and a request, nothing is known about batches.
    CASE
        WHEN bool_or(judged.mount_id IS NOT NULL AND judged.asked_at IS NOT NULL)
            THEN count(*) FILTER (WHERE judged.is_batchable)
    END AS batchable_count,
    CASE
        WHEN bool_or(judged.mount_id IS NOT NULL AND judged.asked_at IS NOT NULL)
            THEN count(*) FILTER (WHERE judged.is_first_of_mount AND judged.is_mount_batchable)
    END AS batchable_mount_count,
    CASE
        WHEN count(judged.asked_at) > 0
            THEN count(*) FILTER (WHERE judged.is_after_another OR judged.is_before_another)
    END AS together_count,
    CASE
        WHEN count(judged.asked_at) > 0
            THEN count(*) FILTER (WHERE judged.is_before_another AND NOT judged.is_after_another)
    END AS together_group_count,

    judged.starts_on
FROM judged
GROUP BY judged.starts_on, judged.tape_type, judged.archive, judged.kind

$function$;
