CREATE FUNCTION mart.account_usage(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    period text DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    account text,
    period text,
    put_count bigint,
    get_count bigint,
    failed_count bigint,
    failures_unknown_count bigint,
    deleted_count bigint,
    user_count bigint,
    put_bytes numeric,
    get_bytes numeric,
    deleted_bytes numeric,
    starts_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH archives AS (
    SELECT * FROM mart.archives
),

transfers AS (
    SELECT found.*
    FROM mart.transfers AS found
    WHERE
        (account_usage.archive IS NULL OR found.archive = account_usage.archive)
        AND found.ended_at < coalesce(account_usage.until, timestamptz 'infinity')
),

-- `until` is repeated, so that later months of names are not read either.
transfer_names AS (
    SELECT found.*
    FROM mart.transfer_names AS found
    WHERE found.ended_at < coalesce(account_usage.until, timestamptz 'infinity')
),

-- A deleted file was charged to the account that put it, because a log of deletes may not name an account.
deletes AS (
    SELECT
        histories.archive,
        histories.kind,
        transfer_names.account,
        'delete' AS event,
        FALSE AS is_failed,
        NULL::boolean AS is_failure_logged,
        histories.interface,
        'put' AS direction,
        histories.user_id,
        histories.client,
        histories.version_class AS class_of_service,
        histories.version_bytes AS size_bytes,
        histories.happened_at
    FROM
        mart.file_histories(archive => account_usage.archive, until => account_usage.until) AS histories
    INNER JOIN transfer_names
        ON histories.version_id = transfer_names.transfer_id AND histories.born_at = transfer_names.ended_at
    WHERE histories.event = 'delete'
),

events AS (
    SELECT
        transfers.archive,
        transfers.kind,
        transfer_names.account,
        transfers.direction AS event,
        transfers.is_failed,
        transfers.is_failure_logged,
        transfers.interface,
        transfers.direction,
        transfers.user_id,
        transfers.client,
        transfers.class_of_service,
        transfers.size_bytes,
        transfers.ended_at AS happened_at
    FROM transfers
    INNER JOIN transfer_names
        ON transfers.transfer_id = transfer_names.transfer_id AND transfers.ended_at = transfer_names.ended_at
    UNION ALL
    SELECT * FROM deletes
),

asked_for AS (
    SELECT
        events.*,
        CASE account_usage.period WHEN 'day' THEN 'day' ELSE 'month' END AS period,
        events.happened_at AT TIME ZONE archives.timezone AS local_at
    FROM events
    INNER JOIN archives ON events.archive = archives.archive
    WHERE
        events.account IS NOT NULL
        AND events.happened_at >= coalesce(account_usage.since, timestamptz '-infinity')
        AND (account_usage.interface IS NULL OR events.interface = account_usage.interface)
        AND (account_usage.direction IS NULL OR events.direction = account_usage.direction)
        AND (account_usage.client IS NULL OR events.client = account_usage.client)
        AND (
            account_usage.class_of_service IS NULL
            OR events.class_of_service = account_usage.class_of_service
        )
)

SELECT
    asked_for.archive,
    asked_for.kind,
    asked_for.account,
    asked_for.period,

    count(*) FILTER (WHERE asked_for.event = 'put' AND NOT asked_for.is_failed) AS put_count,
    count(*) FILTER (WHERE asked_for.event = 'get' AND NOT asked_for.is_failed) AS get_count,
    CASE
        WHEN bool_or(asked_for.is_failed OR asked_for.is_failure_logged)
            THEN count(*) FILTER (WHERE asked_for.is_failed)
    END AS failed_count,
    count(*) FILTER (WHERE NOT asked_for.is_failure_logged) AS failures_unknown_count,
    count(*) FILTER (WHERE asked_for.event = 'delete') AS deleted_count,
    count(DISTINCT asked_for.user_id) AS user_count,
    coalesce(sum(asked_for.size_bytes) FILTER (WHERE asked_for.event = 'put' AND NOT asked_for.is_failed), 0)
        AS put_bytes,
    coalesce(sum(asked_for.size_bytes) FILTER (WHERE asked_for.event = 'get' AND NOT asked_for.is_failed), 0)
        AS get_bytes,
    coalesce(sum(asked_for.size_bytes) FILTER (WHERE asked_for.event = 'delete'), 0) AS deleted_bytes,

    date_trunc(asked_for.period, asked_for.local_at)::date AS starts_on
FROM asked_for
GROUP BY
    asked_for.archive,
    asked_for.kind,
    asked_for.account,
    asked_for.period,
    date_trunc(asked_for.period, asked_for.local_at)

$function$;
