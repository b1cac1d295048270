CREATE FUNCTION mart.arrival_dispersion(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    grouped_by text[] DEFAULT '{interface,direction}',
    bins_s integer[] DEFAULT '{60,600,3600,86400}'
) RETURNS TABLE (
    archive text,
    kind text,
    interface text,
    direction text,
    bin_s integer,
    bin_count bigint,
    outage_bin_count bigint,
    request_count bigint,
    unplaced_count bigint,
    mean_count double precision,
    variance double precision,
    dispersion_ratio double precision,
    max_count bigint,
    from_at timestamptz,
    to_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- 1. arrivals, groups, spans: the requests, and from when to when each group has bins.
-- 2. days, left_out: bins are counted from local midnight. On most days only their number is needed; on days
--    that an outage or an end of the span touches, each is looked at.
-- 3. bins, counts, sums: the number of bins, and the requests of those that have any.
WITH arrivals AS MATERIALIZED (
    SELECT
        arrivals.*,
        coalesce(arrivals.interface, '') AS interface_key,
        coalesce(arrivals.direction, '') AS direction_key
    FROM
        mart.arrivals(
            archive => arrival_dispersion.archive,
            since => arrival_dispersion.since,
            until => arrival_dispersion.until,
            interface => arrival_dispersion.interface,
            direction => arrival_dispersion.direction,
            client => arrival_dispersion.client,
            class_of_service => arrival_dispersion.class_of_service,
            grouped_by => arrival_dispersion.grouped_by
        ) AS arrivals
),

groups AS (
    SELECT
        arrivals.archive,
        arrivals.kind,
        arrivals.interface,
        arrivals.direction,
        arrivals.interface_key,
        arrivals.direction_key,
        row_number() OVER () AS group_number,
        count(*) FILTER (WHERE arrivals.is_time_of_day_unknown) AS unplaced_count,
        min(arrivals.asked_at) FILTER (WHERE NOT arrivals.is_time_of_day_unknown) AS first_at,
        max(arrivals.asked_at) FILTER (WHERE NOT arrivals.is_time_of_day_unknown) AS last_at
    FROM arrivals
    GROUP BY
        arrivals.archive,
        arrivals.kind,
        arrivals.interface,
        arrivals.direction,
        arrivals.interface_key,
        arrivals.direction_key
),

spans AS MATERIALIZED (
    SELECT
        groups.*,
        archives.timezone,
        CASE WHEN groups.first_at IS NOT NULL THEN coalesce(edges.from_at, groups.first_at) END AS from_at,
        CASE WHEN groups.first_at IS NOT NULL THEN coalesce(edges.to_at, groups.last_at) END AS to_at
    FROM groups
    INNER JOIN mart.archives ON groups.archive = archives.archive
    LEFT JOIN
        mart.arrival_edges(
            archive => arrival_dispersion.archive,
            since => arrival_dispersion.since,
            until => arrival_dispersion.until,
            interface => arrival_dispersion.interface,
            direction => arrival_dispersion.direction,
            client => arrival_dispersion.client,
            class_of_service => arrival_dispersion.class_of_service,
            grouped_by => arrival_dispersion.grouped_by
        ) AS edges
        ON
            groups.archive = edges.archive
            AND groups.interface_key = coalesce(edges.interface, '')
            AND groups.direction_key = coalesce(edges.direction, '')
),

-- An outage without an end continues, because a range whose end is null is open.
recorded AS (
    SELECT
        outages.archive,
        range_agg(tstzrange(outages.started_at, outages.ended_at)) AS outage_times,
        array_agg(outages.started_at ORDER BY outages.outage_id) AS outages_began,
        array_agg(outages.ended_at ORDER BY outages.outage_id) AS outages_ended
    FROM mart.outages
    GROUP BY outages.archive
),

days AS MATERIALIZED (
    SELECT
        spans.group_number,
        spans.from_at,
        spans.to_at,
        recorded.outages_began,
        recorded.outages_ended,
        periods.starts_at,
        periods.ends_at,
        date_part('epoch', periods.ends_at - periods.starts_at)::integer AS length_s,
        periods.starts_at < spans.from_at
        OR periods.ends_at > spans.to_at
        OR coalesce(recorded.outage_times && tstzrange(periods.starts_at, periods.ends_at), FALSE) AS is_odd
    FROM spans
    CROSS JOIN LATERAL mart.local_periods(spans.from_at, spans.to_at, spans.timezone, 'day') AS periods
    LEFT JOIN recorded ON spans.archive = recorded.archive
),

widths AS (
    SELECT DISTINCT bins.bin_s
    FROM unnest(arrival_dispersion.bins_s) AS bins (bin_s)
    WHERE bins.bin_s BETWEEN 1 AND 86400
),

left_out AS MATERIALIZED (
    SELECT
        days.group_number,
        days.starts_at,
        widths.bin_s,
        found.bin_number,
        found.is_outage
    FROM days
    CROSS JOIN widths
    CROSS JOIN
        LATERAL mart.bins_left_out(
            days.starts_at,
            days.ends_at,
            days.from_at,
            days.to_at,
            days.outages_began,
            days.outages_ended,
            widths.bin_s
        ) AS found
    WHERE days.is_odd
),

bins AS (
    SELECT
        whole.group_number,
        whole.bin_s,
        coalesce(whole.bin_count, 0) - count(left_out.bin_s) AS bin_count,
        count(*) FILTER (WHERE left_out.is_outage) AS outage_bin_count
    FROM (
        -- Only whole bins count. The rest of a day is left out, so a day of 23 hours has no bin of 24.
        SELECT
            spans.group_number,
            widths.bin_s,
            sum(days.length_s / widths.bin_s) AS bin_count
        FROM spans
        CROSS JOIN widths
        LEFT JOIN days ON spans.group_number = days.group_number
        GROUP BY spans.group_number, widths.bin_s
    ) AS whole
    LEFT JOIN left_out ON whole.group_number = left_out.group_number AND whole.bin_s = left_out.bin_s
    GROUP BY whole.group_number, whole.bin_s, whole.bin_count
),

-- Finding the day of a request in the list of midnights is much faster than computing its local date.
counts AS (
    SELECT
        placed.group_number,
        placed.starts_at,
        widths.bin_s,
        floor(placed.after_s / widths.bin_s)::integer AS bin_number,
        count(*) AS request_count
    FROM (
        SELECT
            spans.group_number,
            midnights.starts_at[width_bucket(arrivals.asked_at, midnights.starts_at)] AS starts_at,
            date_part(
                'epoch',
                arrivals.asked_at
                - midnights.starts_at[width_bucket(arrivals.asked_at, midnights.starts_at)]
            ) AS after_s
        FROM arrivals
        INNER JOIN spans
            ON
                arrivals.archive = spans.archive
                AND arrivals.interface_key = spans.interface_key
                AND arrivals.direction_key = spans.direction_key
        INNER JOIN (
            SELECT
                days.group_number,
                array_agg(days.starts_at ORDER BY days.starts_at) AS starts_at
            FROM days
            GROUP BY days.group_number
        ) AS midnights ON spans.group_number = midnights.group_number
        WHERE NOT arrivals.is_time_of_day_unknown
    ) AS placed
    CROSS JOIN widths
    GROUP BY placed.group_number, placed.starts_at, widths.bin_s, bin_number
),

-- The sums of squares are whole numbers, so they are exact.
sums AS (
    SELECT
        counts.group_number,
        counts.bin_s,
        sum(counts.request_count) AS request_count,
        sum(counts.request_count * counts.request_count) AS square_sum,
        max(counts.request_count) AS max_count
    FROM counts
    INNER JOIN days ON counts.group_number = days.group_number AND counts.starts_at = days.starts_at
    WHERE
        counts.bin_number < days.length_s / counts.bin_s
        AND NOT EXISTS (
            SELECT FROM left_out
            WHERE
                left_out.group_number = counts.group_number
                AND left_out.bin_s = counts.bin_s
                AND left_out.starts_at = counts.starts_at
                AND left_out.bin_number = counts.bin_number
        )
    GROUP BY counts.group_number, counts.bin_s
),

-- Without requests in any bin, there are no sums.
answers AS (
    SELECT
        spans.*,
        bins.bin_s,
        bins.bin_count,
        bins.outage_bin_count,
        coalesce(sums.max_count, 0) AS max_count,
        coalesce(sums.request_count, 0) AS request_count,
        coalesce(sums.square_sum, 0) AS square_sum
    FROM spans
    INNER JOIN bins ON spans.group_number = bins.group_number
    LEFT JOIN sums ON bins.group_number = sums.group_number AND bins.bin_s = sums.bin_s
),

figures AS (
    SELECT
        answers.*,
        answers.request_count / nullif(answers.bin_count, 0) AS mean_count,
        (answers.square_sum - answers.request_count ^ 2 / nullif(answers.bin_count, 0))
        / nullif(answers.bin_count - 1, 0) AS variance
    FROM answers
)

SELECT
    figures.archive,
    figures.kind,
    figures.interface,
    figures.direction,
    figures.bin_s,

    figures.bin_count::bigint AS bin_count,
    figures.outage_bin_count,
    figures.request_count::bigint AS request_count,
    figures.unplaced_count,
    figures.mean_count::double precision AS mean_count,
    figures.variance::double precision AS variance,
    (figures.variance / nullif(figures.mean_count, 0))::double precision AS dispersion_ratio,
    CASE WHEN figures.bin_count > 0 THEN figures.max_count END AS max_count,

    figures.from_at,
    figures.to_at
FROM figures

$function$;
