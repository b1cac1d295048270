CREATE FUNCTION mart.load_over_time(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    period text DEFAULT 'hour',
    grouped_by text DEFAULT 'all'
) RETURNS TABLE (
    archive text,
    kind text,
    period text,
    interface text,
    direction text,
    begun_count bigint,
    unknown_duration_count bigint,
    hour_unknown_count bigint,
    transfer_s double precision,
    mean_under_way double precision,
    max_under_way bigint,
    period_s double precision,
    busy_s double precision,
    outage_s double precision,
    size_bytes double precision,
    unspread_bytes double precision,
    mean_rate_bytes_per_s double precision,
    max_rate_bytes_per_s double precision,
    is_size_lower_bound boolean,
    is_wait_included boolean,
    starts_at timestamptz,
    starts_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- 1. archives, by_day, groups: what the rows are about, and whether the log extends beyond the range.
-- 2. transfers, first_starts, hours, starts, periods: the transfers, and the periods from the first to the
--    last.
-- 3. events, levels: in the order of time, how many transfers are under way after each event, and at what
--    rate.
-- 4. sums, spans, unknown_hours, covered: what is added up for each period, and how much of it the log
--    covers.
WITH archives AS (
    SELECT
        archives.archive,
        archives.kind,
        archives.timezone,
        greatest(coalesce(load_over_time.since, timestamptz '-infinity'), archives.retained_since)
            AS first_at,
        coalesce(load_over_time.until, timestamptz 'infinity') AS last_at
    FROM mart.archives
    WHERE
        (load_over_time.archive IS NULL OR archives.archive = load_over_time.archive)
        AND load_over_time.grouped_by IN ('all', 'interface', 'direction', 'interface_and_direction')
),

-- Only the columns of the grouping that is asked for have values. Days outside the range are counted too.
by_day AS (
    SELECT
        day_cells.archive,
        CASE
            WHEN load_over_time.grouped_by IN ('interface', 'interface_and_direction')
                THEN day_cells.interface
        END AS interface,
        CASE
            WHEN load_over_time.grouped_by IN ('direction', 'interface_and_direction')
                THEN day_cells.direction
        END AS direction,
        day_cells.day_only_count,
        mart.holds_port_wait(day_cells.kind, day_cells.interface) AS is_wait_included,
        day_cells.starts_on
    FROM mart.day_cells
    WHERE
        (load_over_time.archive IS NULL OR day_cells.archive = load_over_time.archive)
        AND (load_over_time.interface IS NULL OR day_cells.interface = load_over_time.interface)
        AND (load_over_time.direction IS NULL OR day_cells.direction = load_over_time.direction)
        AND (
            load_over_time.class_of_service IS NULL
            OR day_cells.class_of_service = load_over_time.class_of_service
        )
),

-- A group has a number here, because names take twice as long to sort.
groups AS MATERIALIZED (
    SELECT
        archives.*,
        by_day.interface,
        by_day.direction,
        coalesce(by_day.interface, '') AS interface_key,
        coalesce(by_day.direction, '') AS direction_key,
        row_number() OVER (ORDER BY archives.archive, by_day.interface, by_day.direction)::integer
            AS group_number,
        bool_or(by_day.is_wait_included) AS is_wait_included,
        min(by_day.starts_on) < (archives.first_at AT TIME ZONE archives.timezone)::date AS has_before,
        max(by_day.starts_on)
        > ((archives.last_at - interval '1 microsecond') AT TIME ZONE archives.timezone)::date AS has_after,
        least(archives.last_at, (max(by_day.starts_on) + 1)::timestamp AT TIME ZONE archives.timezone)
            AS ends_at
    FROM archives
    INNER JOIN by_day ON archives.archive = by_day.archive
    GROUP BY
        archives.archive,
        archives.kind,
        archives.timezone,
        archives.first_at,
        archives.last_at,
        by_day.interface,
        by_day.direction
),

-- `kind` is what a transfer does in the range: 1 begins, 2 goes on from before, 4 takes no time, 5 takes an
-- unknown time. (3 is the end of a transfer, and 0 the beginning of a period.) Rates are added and subtracted
-- millions of times. As floats they would not return to 0, so each is split into two whole numbers, of which
-- sums are exact: KiB/s, and the rest in 2^-30 bytes/s. Three parts of the query read these columns, so they
-- are stored.
transfers AS MATERIALIZED (
    SELECT
        groups.group_number,
        CASE
            WHEN under_way.started_at <= under_way.ended_at
                THEN
                    CASE
                        WHEN under_way.started_at = under_way.ended_at THEN 4
                        WHEN under_way.started_at < groups.first_at THEN 2
                        ELSE 1
                    END
            ELSE 5
        END AS kind,
        under_way.moved_bytes,
        floor(under_way.rate_bytes_per_s / 1024) AS rate_kib_per_s,
        round(
            (under_way.rate_bytes_per_s - floor(under_way.rate_bytes_per_s / 1024) * 1024) * 1073741824
        ) AS rate_rest,
        under_way.is_moved_known,
        greatest(under_way.started_at, groups.first_at) AS from_at,
        least(under_way.ended_at, groups.last_at) AS to_at
    FROM
        mart.transfers_under_way(
            archive => load_over_time.archive,
            since => load_over_time.since,
            until => load_over_time.until,
            interface => load_over_time.interface,
            direction => load_over_time.direction,
            client => load_over_time.client,
            class_of_service => load_over_time.class_of_service
        ) AS under_way
    INNER JOIN groups
        ON
            under_way.archive = groups.archive
            AND CASE
                WHEN load_over_time.grouped_by IN ('interface', 'interface_and_direction')
                    THEN under_way.interface
                ELSE ''
            END = groups.interface_key
            AND CASE
                WHEN load_over_time.grouped_by IN ('direction', 'interface_and_direction')
                    THEN under_way.direction
                ELSE ''
            END = groups.direction_key
),

-- Needed only if the log of a group begins within the range. The first transfer to end need
-- not be the first to begin.
first_starts AS (
    SELECT
        transfers.group_number,
        min(CASE WHEN transfers.kind = 5 THEN transfers.to_at ELSE transfers.from_at END) AS started_at
    FROM transfers
    WHERE NOT (SELECT bool_and(groups.has_before) FROM groups)
    GROUP BY transfers.group_number
),

-- All groups of an archive have the same periods.
spans AS (
    SELECT
        groups.archive,
        groups.timezone,
        min(CASE WHEN groups.has_before THEN groups.first_at ELSE first_starts.started_at END) AS first_at,
        max(groups.ends_at) AS last_at
    FROM groups
    LEFT JOIN first_starts ON groups.group_number = first_starts.group_number
    GROUP BY groups.archive, groups.timezone
),

-- Zones differ from UTC by quarters of an hour. Where an hour comes twice, both are found. (Where clocks
-- change by half an hour, as on Lord Howe Island, one hour has 90 minutes.)
hours AS (
    SELECT
        spans.archive,
        quarter.starts_at
    FROM spans
    CROSS JOIN
        generate_series(
            date_trunc('hour', spans.first_at, spans.timezone),
            spans.last_at + interval '2 hours',
            interval '15 minutes'
        ) AS quarter (starts_at)
    WHERE
        load_over_time.period IN ('ten_minutes', 'hour')
        AND date_trunc('hour', quarter.starts_at, spans.timezone) = quarter.starts_at
),

starts AS (
    SELECT
        hours.archive,
        hours.starts_at
    FROM hours
    WHERE load_over_time.period = 'hour'
    UNION ALL
    SELECT
        next_hours.archive,
        series.starts_at
    FROM (
        SELECT
            hours.archive,
            hours.starts_at,
            lead(hours.starts_at) OVER (PARTITION BY hours.archive ORDER BY hours.starts_at) AS next_at
        FROM hours
    ) AS next_hours
    CROSS JOIN
        generate_series(
            next_hours.starts_at,
            next_hours.next_at - interval '1 microsecond',
            interval '10 minutes'
        ) AS series (starts_at)
    WHERE load_over_time.period = 'ten_minutes'
    UNION ALL
    SELECT
        spans.archive,
        series.starts_at AT TIME ZONE spans.timezone AS starts_at
    FROM spans
    CROSS JOIN
        LATERAL (
            VALUES (
                CASE load_over_time.period
                    WHEN 'day' THEN interval '1 day'
                    WHEN 'week' THEN interval '7 days'
                    WHEN 'month' THEN interval '1 month'
                    WHEN 'quarter' THEN interval '3 months'
                    WHEN 'year' THEN interval '1 year'
                END
            )
        ) AS step (length)
    CROSS JOIN
        generate_series(
            date_trunc(load_over_time.period, spans.first_at AT TIME ZONE spans.timezone),
            (spans.last_at AT TIME ZONE spans.timezone) + step.length,
            step.length
        ) AS series (starts_at)
    WHERE load_over_time.period NOT IN ('ten_minutes', 'hour')
),

-- The last start only ends the period before it.
periods AS (
    SELECT
        starts.archive,
        starts.starts_at,
        lead(starts.starts_at) OVER (PARTITION BY starts.archive ORDER BY starts.starts_at) AS ends_at
    FROM starts
),

-- Where a transfer begins and ends, the number under way and the rate change. Where a period begins, nothing
-- does, but what follows belongs to that period. `value` is the change of the rate in KiB/s or, for a
-- transfer that takes no time or an unknown time, its bytes.
events AS (
    SELECT
        transfers.group_number,
        transfers.kind,
        CASE WHEN transfers.kind < 3 THEN transfers.rate_kib_per_s ELSE transfers.moved_bytes END AS value,
        transfers.rate_rest AS rest,
        CASE WHEN transfers.is_moved_known THEN 0 ELSE 1 END AS unknown_change,
        CASE WHEN transfers.kind = 5 THEN transfers.to_at ELSE transfers.from_at END AS happened_at
    FROM transfers
    UNION ALL
    SELECT
        transfers.group_number,
        3 AS kind,
        -transfers.rate_kib_per_s AS value,
        -transfers.rate_rest AS rest,
        CASE WHEN transfers.is_moved_known THEN 0 ELSE -1 END AS unknown_change,
        transfers.to_at AS happened_at
    FROM transfers
    WHERE transfers.kind < 3
    UNION ALL
    SELECT
        groups.group_number,
        0 AS kind,
        0 AS value,
        0 AS rest,
        0 AS unknown_change,
        starts.starts_at AS happened_at
    FROM groups
    INNER JOIN starts ON groups.archive = starts.archive
),

-- What holds from an event until the next. Of events at the same time, only the last one lasts, and each
-- shows what holds after all of them: a transfer that begins when another ends does not overlap it.
levels AS (
    SELECT
        events.group_number,
        events.kind,
        events.value,
        events.unknown_change,
        events.happened_at,
        sum(CASE WHEN events.kind IN (1, 2) THEN 1 WHEN events.kind = 3 THEN -1 ELSE 0 END) OVER in_time
            AS level,
        sum(CASE WHEN events.kind < 4 THEN events.value END) OVER in_time * 1024
        + sum(events.rest) OVER in_time / 1073741824 AS rate_bytes_per_s,
        sum(CASE WHEN events.kind < 4 THEN events.unknown_change END) OVER in_time AS unknown_level,
        max(CASE WHEN events.kind = 0 THEN events.happened_at END) OVER in_time AS starts_at,
        (date_part('epoch', lead(events.happened_at) OVER in_time - events.happened_at) * 1e6)::bigint
            AS lasting_us
    FROM events
    WINDOW in_time AS (PARTITION BY events.group_number ORDER BY events.happened_at)
),

sums AS (
    SELECT
        levels.group_number,
        count(*) FILTER (WHERE levels.kind IN (1, 4)) AS begun_count,
        count(*) FILTER (WHERE levels.kind = 5) AS unknown_duration_count,
        coalesce(sum(levels.level * levels.lasting_us), 0)::bigint AS transfer_us,
        coalesce(sum(levels.lasting_us) FILTER (WHERE levels.level > 0), 0)::bigint AS busy_us,
        max(levels.level) AS max_under_way,
        coalesce(sum(levels.rate_bytes_per_s * levels.lasting_us), 0) / 1e6
        + coalesce(sum(levels.value) FILTER (WHERE levels.kind = 4), 0) AS size_bytes,
        coalesce(sum(levels.value) FILTER (WHERE levels.kind = 5), 0) AS unspread_bytes,
        coalesce(max(levels.rate_bytes_per_s), 0) AS max_rate_bytes_per_s,
        coalesce(
            bool_or(
                (levels.kind = 4 AND levels.unknown_change > 0)
                OR levels.unknown_level > 0
            ),
            FALSE
        ) AS is_size_unknown,
        min(levels.happened_at) FILTER (WHERE levels.kind > 0) AS first_at,
        max(levels.happened_at) FILTER (WHERE levels.kind > 0) AS last_at,
        levels.starts_at
    FROM levels
    GROUP BY levels.group_number, levels.starts_at
),

-- The days of which the hours of transfers are not known, in periods of a day or more by the period.
unknown_hours AS (
    SELECT
        groups.group_number,
        sum(by_day.day_only_count)::bigint AS transfer_count,
        part.starts_on
    FROM by_day
    CROSS JOIN
        LATERAL (
            VALUES (
                CASE
                    WHEN load_over_time.period IN ('ten_minutes', 'hour') THEN by_day.starts_on
                    ELSE date_trunc(load_over_time.period, by_day.starts_on::timestamp)::date
                END
            )
        ) AS part (starts_on)
    INNER JOIN groups
        ON
            by_day.archive = groups.archive
            AND coalesce(by_day.interface, '') = groups.interface_key
            AND coalesce(by_day.direction, '') = groups.direction_key
    WHERE by_day.day_only_count > 0
    GROUP BY groups.group_number, part.starts_on
),

-- The log covers the time from its first transfer to its last one, and so does the range if it extends
-- beyond.
covers AS (
    SELECT
        groups.*,
        sums.begun_count,
        sums.unknown_duration_count,
        sums.transfer_us,
        sums.busy_us,
        sums.max_under_way,
        sums.size_bytes,
        sums.unspread_bytes,
        sums.max_rate_bytes_per_s,
        sums.is_size_unknown,
        sums.starts_at,
        sum(sums.transfer_us) OVER of_group AS all_transfer_us,
        sum(sums.unknown_duration_count) OVER of_group AS all_unknown_count,
        min(sums.first_at) OVER of_group IS NOT NULL AS is_seen,
        CASE WHEN groups.has_before THEN groups.first_at ELSE min(sums.first_at) OVER of_group END
            AS covered_since,
        CASE WHEN groups.has_after THEN groups.last_at ELSE max(sums.last_at) OVER of_group END
            AS covered_until
    FROM groups
    INNER JOIN sums ON groups.group_number = sums.group_number
    WINDOW of_group AS (PARTITION BY sums.group_number)
),

recorded AS (
    SELECT
        outages.archive,
        range_agg(tstzrange(outages.started_at, outages.ended_at)) AS outage_times
    FROM mart.outages
    GROUP BY outages.archive
),

covered AS (
    SELECT
        covers.*,
        recorded.outage_times,
        coalesce(unknown_hours.transfer_count, 0) AS hour_unknown_count,
        covers.unknown_duration_count > 0
        OR unknown_hours.transfer_count IS NOT NULL
        OR (covers.all_transfer_us = 0 AND covers.all_unknown_count > 0) AS is_incomplete,
        greatest(covers.starts_at, covers.covered_since) AS from_at,
        least(periods.ends_at, covers.covered_until) AS to_at,
        date_part(
            'epoch',
            least(periods.ends_at, covers.covered_until) - greatest(covers.starts_at, covers.covered_since)
        ) AS period_s
    FROM covers
    INNER JOIN periods ON covers.archive = periods.archive AND covers.starts_at = periods.starts_at
    LEFT JOIN recorded ON covers.archive = recorded.archive
    LEFT JOIN unknown_hours
        ON
            covers.group_number = unknown_hours.group_number
            AND (covers.starts_at AT TIME ZONE covers.timezone)::date = unknown_hours.starts_on
    WHERE
        covers.covered_since <= covers.covered_until
        -- If no transfers of a client were read, it may not even exist.
        AND (load_over_time.client IS NULL OR covers.is_seen)
),

-- Unknown is what nothing but transfers without a start or an hour could say.
known AS (
    SELECT
        covered.*,
        covered.transfer_us > 0 OR NOT covered.is_incomplete AS is_known,
        covered.size_bytes > 0 OR NOT (covered.is_incomplete OR covered.is_size_unknown) AS is_size_known,
        covered.is_incomplete OR covered.is_size_unknown AS is_size_lower_bound
    FROM covered
    WHERE
        covered.period_s > 0
        OR (covered.period_s = 0 AND covered.begun_count + covered.unknown_duration_count > 0)
)

SELECT
    known.archive,
    known.kind,
    load_over_time.period,
    known.interface,
    known.direction,

    known.begun_count,
    known.unknown_duration_count,
    known.hour_unknown_count,
    CASE WHEN known.is_known THEN known.transfer_us / 1e6::double precision END AS transfer_s,
    CASE WHEN known.is_known THEN known.transfer_us / 1e6::double precision / nullif(known.period_s, 0) END
        AS mean_under_way,
    CASE WHEN known.is_known THEN known.max_under_way END AS max_under_way,
    known.period_s,
    CASE WHEN known.is_known THEN known.busy_us / 1e6::double precision END AS busy_s,
    CASE
        WHEN known.outage_times && tstzrange(known.from_at, known.to_at)
            THEN
                (
                    SELECT sum(date_part('epoch', upper(part.part) - lower(part.part)))
                    FROM
                        unnest(known.outage_times * tstzmultirange(tstzrange(known.from_at, known.to_at)))
                            AS part (part)
                )
        ELSE 0
    END AS outage_s,
    CASE WHEN known.is_size_known THEN known.size_bytes END AS size_bytes,
    known.unspread_bytes,
    CASE WHEN known.is_size_known THEN known.size_bytes / nullif(known.period_s, 0) END
        AS mean_rate_bytes_per_s,
    CASE WHEN known.is_size_known THEN known.max_rate_bytes_per_s END AS max_rate_bytes_per_s,

    known.is_size_lower_bound,
    known.is_wait_included,

    known.starts_at,
    (known.starts_at AT TIME ZONE known.timezone)::date AS starts_on
FROM known

$function$;
