CREATE FUNCTION mart.compute_forecast(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    is_fresh boolean DEFAULT FALSE,
    years integer DEFAULT 5
) RETURNS TABLE (
    archive text,
    kind text,
    day_count bigint,
    week_count bigint,
    net_bytes_per_flop_per_s_year double precision,
    kept_ratio double precision,
    bytes_read_per_byte_written double precision,
    peak_rate_per_mean_rate double precision,
    flop_per_s double precision,
    net_bytes_per_day double precision,
    net_bytes_per_day_low double precision,
    net_bytes_per_day_high double precision,
    held_bytes double precision,
    held_bytes_low double precision,
    held_bytes_high double precision,
    written_bytes_per_day double precision,
    moved_bytes_per_day double precision,
    mean_rate_bytes_per_s double precision,
    peak_rate_bytes_per_s double precision,
    observed_on date,
    starts_on date,
    ends_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH powers AS (
    SELECT
        powers.archive,
        powers.flop_per_s,
        powers.starts_on,
        coalesce(powers.ends_on + 1, date '9999-12-31') AS until_on
    FROM mart.compute_power AS powers
),

weeks AS (
    SELECT
        weeks.archive,
        weeks.kind,
        weeks.day_count,
        weeks.added_bytes,
        weeks.net_bytes,
        weeks.held_bytes,
        weeks.starts_on,
        weeks.ends_on
    FROM
        mart.growth(
            archive => compute_forecast.archive,
            since => compute_forecast.since,
            until => compute_forecast.until,
            is_fresh => compute_forecast.is_fresh,
            period => 'week'
        ) AS weeks
),

balances AS (
    SELECT
        weeks.archive,
        (array_agg(weeks.held_bytes ORDER BY weeks.ends_on DESC))[1]::double precision AS held_bytes,
        max(weeks.ends_on) AS observed_on
    FROM weeks
    GROUP BY weeks.archive
),

-- What is fitted, and only from weeks whose compute power is known on each day.
known_weeks AS (
    SELECT
        weeks.archive,
        weeks.kind,
        weeks.day_count,
        weeks.added_bytes::double precision AS added_bytes,
        weeks.net_bytes::double precision AS net_bytes,
        weeks.starts_on,
        weeks.ends_on,
        sum(powers.flop_per_s * days.day_count) AS flop_days
    FROM weeks
    INNER JOIN powers
        ON
            weeks.archive = powers.archive
            AND weeks.ends_on >= powers.starts_on
            AND weeks.starts_on < powers.until_on
    CROSS JOIN
        LATERAL (
            VALUES (least(powers.until_on, weeks.ends_on + 1) - greatest(powers.starts_on, weeks.starts_on))
        ) AS days (day_count)
    GROUP BY
        weeks.archive,
        weeks.kind,
        weeks.day_count,
        weeks.added_bytes,
        weeks.net_bytes,
        weeks.starts_on,
        weeks.ends_on
    HAVING sum(days.day_count) = weeks.day_count
),

moved AS (
    SELECT
        days.archive,
        -- 0 if nothing was moved, and null if no size of what was moved is known.
        CASE
            WHEN bool_or(days.direction = 'put')
                THEN sum(days.size_bytes) FILTER (WHERE days.direction = 'put')
            ELSE 0
        END::double precision AS put_bytes,
        CASE
            WHEN bool_or(days.direction = 'get')
                THEN sum(days.size_bytes) FILTER (WHERE days.direction = 'get')
            ELSE 0
        END::double precision AS got_bytes
    FROM
        mart.daily_activity(
            archive => compute_forecast.archive,
            since => compute_forecast.since,
            until => compute_forecast.until,
            grouped_by => '{direction}'
        ) AS days
    INNER JOIN known_weeks
        ON
            days.archive = known_weeks.archive
            AND days.starts_on BETWEEN known_weeks.starts_on AND known_weeks.ends_on
    GROUP BY days.archive
),

-- Where the log begins or ends, it covers only a part of ten minutes, whose own rate would be no peak.
peaks AS (
    SELECT
        periods.archive,
        max(periods.size_bytes)::double precision / 600 AS rate_bytes_per_s
    FROM
        mart.load_over_time(
            archive => compute_forecast.archive,
            since => compute_forecast.since,
            until => compute_forecast.until,
            period => 'ten_minutes'
        ) AS periods
    INNER JOIN known_weeks
        ON
            periods.archive = known_weeks.archive
            AND periods.starts_on BETWEEN known_weeks.starts_on AND known_weeks.ends_on
    GROUP BY periods.archive
),

sums AS (
    SELECT
        known_weeks.archive,
        known_weeks.kind,
        sum(known_weeks.day_count)::bigint AS day_count,
        count(*) AS week_count,
        sum(known_weeks.added_bytes) AS added_bytes,
        sum(known_weeks.net_bytes) AS net_bytes,
        nullif(sum(known_weeks.flop_days), 0) AS flop_days,
        array_agg(known_weeks.net_bytes) AS all_net_bytes,
        array_agg(known_weeks.flop_days) AS all_flop_days
    FROM known_weeks
    GROUP BY known_weeks.archive, known_weeks.kind
),

-- All amounts are proportional to days times compute power, so such products take the place that days have in
-- mart.growth_forecast.
fits AS (
    SELECT
        sums.archive,
        sums.kind,
        sums.day_count,
        sums.week_count,
        sums.flop_days,
        sums.net_bytes / sums.flop_days AS net_bytes_per_flop_day,
        sums.net_bytes / nullif(sums.added_bytes, 0) AS kept_ratio,
        moved.put_bytes / sums.flop_days AS put_bytes_per_flop_day,
        moved.got_bytes / nullif(moved.put_bytes, 0) AS bytes_read_per_byte_written,
        (moved.put_bytes + moved.got_bytes) / sums.flop_days AS moved_bytes_per_flop_day,
        peaks.rate_bytes_per_s
        / nullif((moved.put_bytes + moved.got_bytes) / sums.day_count / 86400, 0) AS peak_rate_per_mean_rate,
        CASE
            WHEN sums.flop_days IS NOT NULL
                THEN
                    mart.day_variance(sums.all_net_bytes, sums.all_flop_days)
                    * mart.student_t_quantile(0.975, sums.week_count - 1) ^ 2
        END AS square
    FROM sums
    LEFT JOIN moved ON sums.archive = moved.archive
    LEFT JOIN peaks ON sums.archive = peaks.archive
),

ahead AS (
    SELECT
        balances.archive,
        balances.observed_on,
        balances.held_bytes,
        dates.starts_on,
        dates.ends_on,
        dates.ends_on - dates.starts_on + 1 AS day_count,
        sum(
            powers.flop_per_s
            * (least(powers.until_on, dates.ends_on + 1) - greatest(powers.starts_on, dates.starts_on))
        ) AS flop_days
    FROM balances
    CROSS JOIN generate_series(0, least(compute_forecast.years, 1000)) AS numbers (number)
    CROSS JOIN
        LATERAL (
            VALUES
            (
                greatest(
                    balances.observed_on + 1,
                    make_date(extract(YEAR FROM balances.observed_on)::integer + numbers.number, 1, 1)
                ),
                make_date(extract(YEAR FROM balances.observed_on)::integer + numbers.number, 12, 31)
            )
        ) AS dates (starts_on, ends_on)
    INNER JOIN powers
        ON
            balances.archive = powers.archive
            AND dates.ends_on >= powers.starts_on
            AND dates.starts_on < powers.until_on
    WHERE dates.starts_on <= dates.ends_on
    GROUP BY balances.archive, balances.observed_on, balances.held_bytes, dates.starts_on, dates.ends_on
),

totals AS (
    SELECT
        ahead.*,
        sum(ahead.flop_days) OVER (PARTITION BY ahead.archive ORDER BY ahead.starts_on) AS flop_days_ahead
    FROM ahead
),

margins AS (
    SELECT
        fits.*,
        totals.observed_on,
        totals.starts_on,
        totals.ends_on,
        totals.flop_days / totals.day_count AS flop_per_s,
        totals.held_bytes + fits.net_bytes_per_flop_day * totals.flop_days_ahead AS held_bytes,
        sqrt(fits.square * (totals.flop_days + totals.flop_days ^ 2 / fits.flop_days))
        / totals.day_count AS per_day_margin,
        sqrt(fits.square * (totals.flop_days_ahead + totals.flop_days_ahead ^ 2 / fits.flop_days)) AS margin
    FROM totals
    INNER JOIN fits ON totals.archive = fits.archive
)

SELECT
    margins.archive,
    margins.kind,

    margins.day_count,
    margins.week_count,
    margins.net_bytes_per_flop_day * 365.25 AS net_bytes_per_flop_per_s_year,
    margins.kept_ratio,
    margins.bytes_read_per_byte_written,
    margins.peak_rate_per_mean_rate,

    margins.flop_per_s,
    margins.net_bytes_per_flop_day * margins.flop_per_s AS net_bytes_per_day,
    margins.net_bytes_per_flop_day * margins.flop_per_s - margins.per_day_margin AS net_bytes_per_day_low,
    margins.net_bytes_per_flop_day * margins.flop_per_s + margins.per_day_margin AS net_bytes_per_day_high,
    margins.held_bytes,
    margins.held_bytes - margins.margin AS held_bytes_low,
    margins.held_bytes + margins.margin AS held_bytes_high,

    margins.put_bytes_per_flop_day * margins.flop_per_s AS written_bytes_per_day,
    margins.moved_bytes_per_flop_day * margins.flop_per_s AS moved_bytes_per_day,
    margins.moved_bytes_per_flop_day * margins.flop_per_s / 86400 AS mean_rate_bytes_per_s,
    margins.moved_bytes_per_flop_day * margins.flop_per_s / 86400 * margins.peak_rate_per_mean_rate
        AS peak_rate_bytes_per_s,

    margins.observed_on,
    margins.starts_on,
    margins.ends_on
FROM margins

$function$;
