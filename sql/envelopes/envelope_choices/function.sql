CREATE FUNCTION mart.envelope_choices(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    has_default_sizes boolean DEFAULT TRUE,
    is_fresh boolean DEFAULT FALSE
) RETURNS TABLE (
    archive text,
    preparation_id integer,
    transfer_count bigint,
    newer_count bigint,
    is_fresh boolean,
    computed_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- The transfers of the range, as far as their detail is not forgotten, and those of them that the other
-- arguments select. These are numbers of whole days and of all clients, which the cells do not distinguish.
-- Each archive is counted by itself, because to group years of days costs more than to read them.
WITH counts AS (
    SELECT
        archives.archive,
        sums.range_count,
        sums.transfer_count
    FROM mart.archives
    CROSS JOIN
        LATERAL (
            SELECT
                coalesce(sum(cells.transfer_count), 0)::bigint AS range_count,
                coalesce(
                    sum(cells.transfer_count) FILTER (
                        WHERE
                        (envelope_choices.interface IS NULL OR cells.interface = envelope_choices.interface)
                        AND (
                            envelope_choices.direction IS NULL
                            OR cells.direction = envelope_choices.direction
                        )
                        AND (
                            envelope_choices.class_of_service IS NULL
                            OR cells.class_of_service = envelope_choices.class_of_service
                        )
                    ), 0
                )::bigint AS transfer_count
            FROM
                mart.selected_days(
                    archive => archives.archive,
                    since => envelope_choices.since,
                    until => envelope_choices.until
                ) AS cells
            WHERE
                cells.starts_on
                >= coalesce((archives.retained_since AT TIME ZONE archives.timezone)::date, date '-infinity')
        ) AS sums
    WHERE envelope_choices.archive IS NULL OR archives.archive = envelope_choices.archive
),

-- Residuals of 300,000 transfers take two seconds, envelopes one. A transfer that is only read, and not
-- selected, takes a fifteenth of that.
choices AS (
    SELECT
        counts.archive,
        counts.transfer_count,
        coalesce(envelope_choices.is_fresh, FALSE)
        OR counts.transfer_count + (counts.range_count - counts.transfer_count) / 15 <= 300000 AS is_fresh
    FROM counts
),

-- The last preparation of the same transfers. Its range may differ from the one that was asked for if no
-- transfer that was read ended between the two.
prepared AS (
    SELECT DISTINCT ON (preparations.archive) preparations.*
    FROM mart.envelope_preparations AS preparations
    WHERE
        coalesce(envelope_choices.has_default_sizes, TRUE)
        AND preparations.client IS NOT DISTINCT FROM envelope_choices.client
        AND preparations.class_of_service IS NOT DISTINCT FROM envelope_choices.class_of_service
        AND coalesce(envelope_choices.since, timestamptz '-infinity')
        BETWEEN coalesce(preparations.since, timestamptz '-infinity')
        AND coalesce(preparations.first_ended_at, preparations.since, timestamptz '-infinity')
        AND coalesce(envelope_choices.until, timestamptz 'infinity')
        <= coalesce(preparations.until, timestamptz 'infinity')
        AND (
            envelope_choices.until > preparations.last_ended_at
            OR envelope_choices.until IS NOT DISTINCT FROM preparations.until
            OR envelope_choices.until IS NULL
        )
    ORDER BY preparations.archive ASC, preparations.computed_at DESC, preparations.preparation_id DESC
)

SELECT
    choices.archive,
    prepared.preparation_id,
    choices.transfer_count,
    -- Nothing is counted if there is nothing to compare it with.
    CASE
        WHEN prepared.preparation_id IS NOT NULL
            THEN
                (
                    SELECT coalesce(sum(cells.transfer_count), 0)::bigint - prepared.counted_count
                    FROM
                        mart.selected_days(
                            archive => prepared.archive,
                            since => prepared.since,
                            until => prepared.until,
                            class_of_service => prepared.class_of_service
                        ) AS cells
                )
    END AS newer_count,
    choices.is_fresh,
    prepared.computed_at
FROM choices
LEFT JOIN prepared ON choices.archive = prepared.archive AND NOT choices.is_fresh

$function$;
