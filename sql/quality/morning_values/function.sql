CREATE FUNCTION mart.morning_values(
    archive text DEFAULT NULL,
    until timestamptz DEFAULT NULL
) RETURNS TABLE (
    archive text,
    weeks_ago integer,
    figure_number integer,
    value double precision,
    unknown_count bigint,
    is_inferred boolean
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH days AS MATERIALIZED (
    SELECT found.*
    FROM mart.morning_days(archive => morning_values.archive, until => morning_values.until) AS found
),

-- What says how long recalls took (a log of stages, or else open times of 8 s and longer), and whether the
-- archive's logs have transfers at all.
evidence AS MATERIALIZED (
    SELECT
        archives.archive,
        exists(
            SELECT 1 FROM mart.stage_cells AS cells
            WHERE cells.archive = archives.archive
        ) AS has_stages,
        exists(
            SELECT 1 FROM mart.open_cells AS cells
            WHERE cells.archive = archives.archive
        ) AS has_opens,
        exists(
            SELECT 1 FROM mart.day_cells AS cells
            WHERE cells.archive = archives.archive
        ) AS has_transfers
    FROM (SELECT DISTINCT days.archive FROM days) AS archives
),

activity AS (
    SELECT
        days.archive,
        days.weeks_ago,
        coalesce(sum(found.transfer_count), 0) AS transfer_count,
        sum(found.failed_count) AS failed_count,
        sum(found.failures_unknown_count) AS failures_unknown_count,
        -- Nothing was put if there was no put. If no size of a put is known, its bytes are not known either.
        CASE
            WHEN count(*) FILTER (WHERE found.direction = 'put') = 0 THEN 0
            ELSE sum(found.size_bytes) FILTER (WHERE found.direction = 'put')
        END AS put_bytes,
        CASE
            WHEN count(*) FILTER (WHERE found.direction = 'get') = 0 THEN 0
            ELSE sum(found.size_bytes) FILTER (WHERE found.direction = 'get')
        END AS got_bytes,
        sum(found.unknown_size_count) FILTER (WHERE found.direction = 'put') AS put_unknown_count,
        sum(found.unknown_size_count) FILTER (WHERE found.direction = 'get') AS got_unknown_count
    FROM days
    LEFT JOIN
        LATERAL mart.daily_activity(
            archive => days.archive, since => days.starts_at, until => days.ends_at
        ) AS found
        ON TRUE
    GROUP BY days.archive, days.weeks_ago
),

hits AS (
    SELECT
        days.archive,
        days.weeks_ago,
        found.hit_ratio,
        found.unknown_count
    FROM days
    CROSS JOIN
        LATERAL mart.cache_hits(
            archive => days.archive, since => days.starts_at, until => days.ends_at
        ) AS found
),

-- Before its first transfer and after its last, an archive was silent too. Recorded outages are left out.
outages AS (
    SELECT
        days.archive,
        days.weeks_ago,
        sum(extract(EPOCH FROM upper(parts.part) - lower(parts.part))) AS outage_s
    FROM days
    CROSS JOIN
        LATERAL (
            SELECT range_agg(tstzrange(recorded.started_at, recorded.ended_at)) AS outage_times
            FROM mart.outages AS recorded
            WHERE recorded.archive = days.archive
        ) AS recorded
    CROSS JOIN
        LATERAL unnest(
            recorded.outage_times * tstzmultirange(tstzrange(days.starts_at, days.ends_at))
        ) AS parts (part)
    GROUP BY days.archive, days.weeks_ago
),

idle AS (
    SELECT
        days.archive,
        days.weeks_ago,
        CASE
            WHEN found.archive IS NOT NULL THEN found.unexplained_count * 600
            ELSE extract(EPOCH FROM days.ends_at - days.starts_at) - coalesce(outages.outage_s, 0)
        END / 3600::double precision AS idle_h,
        found.hour_unknown_count
    FROM days
    LEFT JOIN outages ON days.archive = outages.archive AND days.weeks_ago = outages.weeks_ago
    LEFT JOIN
        LATERAL mart.idle_windows(
            archive => days.archive, since => days.starts_at, until => days.ends_at
        ) AS found
        ON TRUE
),

-- How many recalls took how long, by the lower edge of their bin. A stage without a duration has no bin.
recalls AS (
    SELECT
        days.archive,
        days.weeks_ago,
        mart.time_bin_edge(bins.time_bin) AS took_s,
        bins.stage_count AS recall_count
    FROM days
    CROSS JOIN
        LATERAL mart.selected_stages(
            archive => days.archive, since => days.starts_at, until => days.ends_at
        ) AS cells
    CROSS JOIN
        LATERAL (
            SELECT
                counted.time_bin,
                counted.stage_count
            FROM unnest(cells.time_bins, cells.stage_counts) AS counted (time_bin, stage_count)
            UNION ALL
            SELECT
                NULL AS time_bin,
                cells.untimed_count AS stage_count
        ) AS bins
    UNION ALL
    SELECT
        days.archive,
        days.weeks_ago,
        opens.open_from_s AS took_s,
        opens.request_count AS recall_count
    FROM days
    INNER JOIN evidence ON days.archive = evidence.archive
    CROSS JOIN
        LATERAL mart.selected_opens(
            archive => days.archive, since => days.starts_at, until => days.ends_at, direction => 'get'
        ) AS opens
    WHERE NOT evidence.has_stages AND opens.open_from_s >= 8 AND opens.is_staging_bypassed IS NOT TRUE
),

-- How many took as long, or less.
running AS (
    SELECT
        recalls.archive,
        recalls.weeks_ago,
        recalls.took_s,
        sum(recalls.recall_count) OVER upto AS upto_count,
        sum(recalls.recall_count) OVER everything AS timed_count
    FROM recalls
    WHERE recalls.took_s IS NOT NULL
    WINDOW
        everything AS (PARTITION BY recalls.archive, recalls.weeks_ago),
        upto AS (everything ORDER BY recalls.took_s)
),

quantiles AS (
    SELECT
        running.archive,
        running.weeks_ago,
        min(running.took_s) FILTER (WHERE running.upto_count * 2 >= running.timed_count) AS p50_s,
        min(running.took_s) FILTER (WHERE running.upto_count * 20 >= running.timed_count * 19) AS p95_s
    FROM running
    WHERE running.timed_count > 0
    GROUP BY running.archive, running.weeks_ago
),

counts AS (
    SELECT
        recalls.archive,
        recalls.weeks_ago,
        sum(recalls.recall_count) AS recall_count,
        sum(recalls.recall_count) FILTER (WHERE recalls.took_s IS NULL) AS untimed_count
    FROM recalls
    GROUP BY recalls.archive, recalls.weeks_ago
)

SELECT
    days.archive,
    days.weeks_ago,
    figures.figure_number,

    figures.value::double precision AS value,
    coalesce(figures.unknown_count, 0)::bigint AS unknown_count,

    figures.figure_number IN (6, 7, 8) AND NOT evidence.has_stages AS is_inferred
FROM days
INNER JOIN evidence ON days.archive = evidence.archive
INNER JOIN activity ON days.archive = activity.archive AND days.weeks_ago = activity.weeks_ago
LEFT JOIN hits ON days.archive = hits.archive AND days.weeks_ago = hits.weeks_ago
INNER JOIN idle ON days.archive = idle.archive AND days.weeks_ago = idle.weeks_ago
LEFT JOIN counts ON days.archive = counts.archive AND days.weeks_ago = counts.weeks_ago
LEFT JOIN quantiles ON days.archive = quantiles.archive AND days.weeks_ago = quantiles.weeks_ago
CROSS JOIN
    LATERAL (
        VALUES
        (1, CASE WHEN evidence.has_transfers THEN activity.transfer_count END, 0),
        (2, CASE WHEN evidence.has_transfers THEN activity.put_bytes END, activity.put_unknown_count),
        (3, CASE WHEN evidence.has_transfers THEN activity.got_bytes END, activity.got_unknown_count),
        (4, activity.failed_count, activity.failures_unknown_count),
        (5, hits.hit_ratio, hits.unknown_count),
        (
            6,
            CASE WHEN evidence.has_stages OR evidence.has_opens THEN coalesce(counts.recall_count, 0) END,
            0
        ),
        (7, quantiles.p50_s, counts.untimed_count),
        (8, quantiles.p95_s, counts.untimed_count),
        (9, CASE WHEN evidence.has_transfers THEN idle.idle_h END, idle.hour_unknown_count)
    ) AS figures (figure_number, value, unknown_count)

$function$;
