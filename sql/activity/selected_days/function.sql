CREATE FUNCTION mart.selected_days(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    is_exact boolean DEFAULT FALSE
) RETURNS TABLE (
    archive text,
    kind text,
    timezone text,
    source text,
    interface text,
    direction text,
    class_of_service text,
    transfer_count bigint,
    failed_count bigint,
    saturated_count bigint,
    size_bytes numeric,
    unknown_size_count bigint,
    duration_us bigint,
    unknown_duration_count bigint,
    ambiguous_count bigint,
    day_only_count bigint,
    coarse_count bigint,
    below_clock_count bigint,
    flagged_saturated_count bigint,
    inconsistent_count bigint,
    rated_size_bytes numeric,
    rated_duration_us bigint,
    hours smallint[],
    hour_transfer_counts integer[],
    hour_failed_counts integer[],
    hour_size_bytes numeric[],
    hour_unknown_size_counts integer[],
    rate_bins smallint[],
    rate_counts integer[],
    ten_minute_offsets smallint[],
    ten_minute_counts integer[],
    ten_minute_marks bit,
    rest_size_bins smallint[],
    rest_size_counts integer[],
    rest_saturated_counts integer[],
    rest_size_bytes numeric[],
    largest bigint[],
    longest double precision[],
    rate_bytes_per_s double precision,
    is_failure_logged boolean,
    starts_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- Cells of all clients, cells of one client, or the facts of a client without cells: only what is needed is
-- read, and it is known what that is before anything is.
SELECT
    day_cells.archive,
    day_cells.kind,
    day_cells.timezone,
    day_cells.source,
    day_cells.interface,
    day_cells.direction,
    day_cells.class_of_service,
    day_cells.transfer_count,
    day_cells.failed_count,
    day_cells.saturated_count,
    day_cells.size_bytes,
    day_cells.unknown_size_count,
    day_cells.duration_us,
    day_cells.unknown_duration_count,
    day_cells.ambiguous_count,
    day_cells.day_only_count,
    day_cells.coarse_count,
    day_cells.below_clock_count,
    day_cells.flagged_saturated_count,
    day_cells.inconsistent_count,
    day_cells.rated_size_bytes,
    day_cells.rated_duration_us,
    day_cells.hours,
    day_cells.hour_transfer_counts,
    day_cells.hour_failed_counts,
    day_cells.hour_size_bytes,
    day_cells.hour_unknown_size_counts,
    day_cells.rate_bins,
    day_cells.rate_counts,
    day_cells.ten_minute_offsets,
    day_cells.ten_minute_counts,
    day_cells.ten_minute_marks,
    day_cells.rest_size_bins,
    day_cells.rest_size_counts,
    day_cells.rest_saturated_counts,
    day_cells.rest_size_bytes,
    day_cells.largest,
    day_cells.longest,
    day_cells.rate_bytes_per_s,
    day_cells.is_failure_logged,
    day_cells.starts_on
FROM mart.day_cells
WHERE
    selected_days.client IS NULL
    AND selected_days.is_exact IS NOT TRUE
    AND (selected_days.archive IS NULL OR day_cells.archive = selected_days.archive)
    AND coalesce(selected_days.since, timestamptz '-infinity')
    < coalesce(selected_days.until, timestamptz 'infinity')
    AND day_cells.starts_on
    >= (coalesce(selected_days.since, timestamptz '-infinity') AT TIME ZONE day_cells.timezone)::date
    AND day_cells.starts_on
    < coalesce(selected_days.until, timestamptz 'infinity') AT TIME ZONE day_cells.timezone
    AND (selected_days.interface IS NULL OR day_cells.interface = selected_days.interface)
    AND (selected_days.direction IS NULL OR day_cells.direction = selected_days.direction)
    AND (
        selected_days.class_of_service IS NULL OR day_cells.class_of_service = selected_days.class_of_service
    )

UNION ALL

SELECT
    client_cells.archive,
    client_cells.kind,
    client_cells.timezone,
    client_cells.source,
    client_cells.interface,
    client_cells.direction,
    client_cells.class_of_service,
    client_cells.transfer_count,
    client_cells.failed_count,
    client_cells.saturated_count,
    client_cells.size_bytes,
    client_cells.unknown_size_count,
    client_cells.duration_us,
    client_cells.unknown_duration_count,
    client_cells.ambiguous_count,
    client_cells.day_only_count,
    client_cells.coarse_count,
    client_cells.below_clock_count,
    client_cells.flagged_saturated_count,
    client_cells.inconsistent_count,
    client_cells.rated_size_bytes,
    client_cells.rated_duration_us,
    client_cells.hours,
    client_cells.hour_transfer_counts,
    client_cells.hour_failed_counts,
    client_cells.hour_size_bytes,
    client_cells.hour_unknown_size_counts,
    client_cells.rate_bins,
    client_cells.rate_counts,
    client_cells.ten_minute_offsets,
    client_cells.ten_minute_counts,
    client_cells.ten_minute_marks,
    client_cells.rest_size_bins,
    client_cells.rest_size_counts,
    client_cells.rest_saturated_counts,
    client_cells.rest_size_bytes,
    client_cells.largest,
    client_cells.longest,
    client_cells.rate_bytes_per_s,
    client_cells.is_failure_logged,
    client_cells.starts_on
FROM mart.client_day_cells AS client_cells
WHERE
    client_cells.client = selected_days.client
    AND selected_days.is_exact IS NOT TRUE
    AND (selected_days.archive IS NULL OR client_cells.archive = selected_days.archive)
    AND coalesce(selected_days.since, timestamptz '-infinity')
    < coalesce(selected_days.until, timestamptz 'infinity')
    AND client_cells.starts_on
    >= (coalesce(selected_days.since, timestamptz '-infinity') AT TIME ZONE client_cells.timezone)::date
    AND client_cells.starts_on
    < coalesce(selected_days.until, timestamptz 'infinity') AT TIME ZONE client_cells.timezone
    AND (selected_days.interface IS NULL OR client_cells.interface = selected_days.interface)
    AND (selected_days.direction IS NULL OR client_cells.direction = selected_days.direction)
    AND (
        selected_days.class_of_service IS NULL
        OR client_cells.class_of_service = selected_days.class_of_service
    )

UNION ALL

-- A transfer is a cell of its own: whoever reads cells adds them up.
SELECT
    transfers.archive,
    transfers.kind,
    archives.timezone,
    transfers.source,
    transfers.interface,
    transfers.direction,
    transfers.class_of_service,

    1::bigint AS transfer_count,
    transfers.is_failed::integer::bigint AS failed_count,
    (transfers.is_size_saturated AND NOT transfers.is_failed)::integer::bigint AS saturated_count,
    coalesce(found.moved_bytes, 0)::numeric AS size_bytes,
    (found.moved_bytes IS NULL AND NOT transfers.is_failed)::integer::bigint AS unknown_size_count,
    coalesce(found.moved_us, 0) AS duration_us,
    (found.moved_us IS NULL AND NOT transfers.is_failed)::integer::bigint AS unknown_duration_count,
    transfers.is_time_ambiguous::integer::bigint AS ambiguous_count,
    transfers.is_time_of_day_unknown::integer::bigint AS day_only_count,
    transfers.is_duration_coarse::integer::bigint AS coarse_count,
    transfers.is_duration_below_clock::integer::bigint AS below_clock_count,
    transfers.is_size_saturated::integer::bigint AS flagged_saturated_count,
    transfers.is_rate_inconsistent::integer::bigint AS inconsistent_count,
    CASE WHEN found.rate_bytes_per_s IS NOT NULL THEN found.moved_bytes ELSE 0 END::numeric
        AS rated_size_bytes,
    CASE WHEN found.rate_bytes_per_s IS NOT NULL THEN found.moved_us ELSE 0 END AS rated_duration_us,

    CASE
        WHEN transfers.is_time_of_day_unknown THEN '{}'
        ELSE ARRAY[extract(HOUR FROM found.ended_local)::smallint]
    END AS hours,
    CASE WHEN transfers.is_time_of_day_unknown THEN '{}' ELSE ARRAY[1] END AS hour_transfer_counts,
    CASE
        WHEN transfers.is_time_of_day_unknown THEN '{}' ELSE ARRAY[transfers.is_failed::integer]
    END AS hour_failed_counts,
    CASE
        WHEN transfers.is_time_of_day_unknown THEN '{}' ELSE ARRAY[coalesce(found.moved_bytes, 0)::numeric]
    END AS hour_size_bytes,
    CASE
        WHEN transfers.is_time_of_day_unknown THEN '{}'
        ELSE ARRAY[(found.moved_bytes IS NULL AND NOT transfers.is_failed)::integer]
    END AS hour_unknown_size_counts,
    CASE
        WHEN found.rate_bytes_per_s IS NULL THEN '{}'
        ELSE ARRAY[mart.histogram_bin(found.rate_bytes_per_s)]
    END AS rate_bins,
    CASE WHEN found.rate_bytes_per_s IS NULL THEN '{}' ELSE ARRAY[1] END AS rate_counts,
    CASE WHEN transfers.is_time_of_day_unknown THEN '{}' ELSE ARRAY[ten.offset_minutes::smallint] END
        AS ten_minute_offsets,
    CASE WHEN transfers.is_time_of_day_unknown THEN '{}' ELSE ARRAY[1] END AS ten_minute_counts,
    -- As core.mark_ten_minutes does it for many.
    CASE
        WHEN transfers.is_time_of_day_unknown THEN b'0'::bit(336)
        ELSE
            set_bit(b'0'::bit(336), (ten.offset_minutes + 960) / 10, 1)
    END AS ten_minute_marks,
    CASE WHEN found.is_rest THEN ARRAY[mart.size_bin(found.moved_bytes)::smallint] ELSE '{}' END
        AS rest_size_bins,
    CASE WHEN found.is_rest THEN ARRAY[1] ELSE '{}' END AS rest_size_counts,
    CASE WHEN found.is_rest THEN ARRAY[transfers.is_size_saturated::integer] ELSE '{}' END
        AS rest_saturated_counts,
    CASE WHEN found.is_rest THEN ARRAY[found.moved_bytes::numeric] ELSE '{}' END AS rest_size_bytes,
    CASE
        WHEN NOT transfers.is_of_parts AND found.moved_bytes IS NOT NULL
            THEN
                ARRAY[
                    found.moved_bytes,
                    -found.ended_us,
                    transfers.is_size_saturated::integer::bigint,
                    transfers.is_time_of_day_unknown::integer::bigint
                ]
    END AS largest,
    CASE
        WHEN NOT transfers.is_failed AND transfers.duration_s IS NOT NULL
            THEN
                ARRAY[
                    transfers.duration_s,
                    -found.ended_us::double precision,
                    transfers.is_time_of_day_unknown::integer::double precision
                ]
    END AS longest,
    found.rate_bytes_per_s,

    transfers.is_failure_logged,

    found.ended_local::date AS starts_on
FROM
    -- Two days are more than the longest local day.
    mart.selected_transfers(
        archive => selected_days.archive,
        since => selected_days.since - interval '2 days',
        until => selected_days.until + interval '2 days',
        interface => selected_days.interface,
        direction => selected_days.direction,
        client => selected_days.client,
        class_of_service => selected_days.class_of_service
    ) AS transfers
INNER JOIN mart.archives ON transfers.archive = archives.archive
CROSS JOIN
    LATERAL (
        VALUES
        (
            transfers.ended_at AT TIME ZONE archives.timezone,
            CASE WHEN NOT transfers.is_failed THEN transfers.size_bytes END,
            CASE WHEN NOT transfers.is_failed THEN round(transfers.duration_s * 1e6)::bigint END,
            CASE
                WHEN
                    NOT transfers.is_failed
                    AND NOT transfers.is_size_saturated
                    AND transfers.size_bytes IS NOT NULL
                    AND transfers.duration_s IS NOT NULL
                    THEN transfers.rate_bytes_per_s
            END,
            -- What the filter of the envelope leaves out (mart.envelope_transfers).
            NOT transfers.is_failed
            AND transfers.size_bytes IS NOT NULL
            AND (
                NOT transfers.is_size_saturated
                AND transfers.duration_s > 0
                AND NOT (transfers.is_duration_coarse AND transfers.duration_s < 10)
            ) IS NOT TRUE,
            (extract(EPOCH FROM transfers.ended_at) * 1000000)::bigint,
            mod(extract(MINUTE FROM transfers.ended_at AT TIME ZONE archives.timezone)::integer, 10)
        )
    ) AS found (ended_local, moved_bytes, moved_us, rate_bytes_per_s, is_rest, ended_us, into_ten)
CROSS JOIN
    LATERAL (
        VALUES
        (
            floor(extract(EPOCH FROM transfers.ended_at) / 60)::integer
            -- As in core.activity_cells, a minute is alone if its ten minutes would begin on another day.
            - CASE
                WHEN
                    (
                        (transfers.ended_at - found.into_ten * interval '1 minute')
                        AT TIME ZONE archives.timezone
                    )::date = found.ended_local::date
                    THEN found.into_ten
                ELSE 0
            END
            - (found.ended_local::date - date '1970-01-01') * 1440
        )
    ) AS ten (offset_minutes)
WHERE
    (selected_days.client IS NOT NULL OR selected_days.is_exact)
    -- If all archives have cells of single clients, no month of the facts is read.
    AND (
        selected_days.is_exact
        OR EXISTS (
            SELECT FROM mart.archives AS uncounted
            WHERE
                NOT uncounted.has_client_cells
                AND (selected_days.archive IS NULL OR uncounted.archive = selected_days.archive)
        )
    )
    AND (selected_days.is_exact OR NOT archives.has_client_cells)
    AND coalesce(selected_days.since, timestamptz '-infinity')
    < coalesce(selected_days.until, timestamptz 'infinity')
    AND found.ended_local::date
    >= (coalesce(selected_days.since, timestamptz '-infinity') AT TIME ZONE archives.timezone)::date
    AND found.ended_local::date
    < coalesce(selected_days.until, timestamptz 'infinity') AT TIME ZONE archives.timezone

$function$;
