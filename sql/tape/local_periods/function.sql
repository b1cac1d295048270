CREATE FUNCTION mart.local_periods(
    from_at timestamptz,
    last_at timestamptz,
    timezone text,
    period text
) RETURNS TABLE (
    starts_at timestamptz,
    ends_at timestamptz,
    starts_on date
)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $function$

-- A day is one period of at most two days. Hours are counted from midnight, so a day has 23 or 25 of them
-- where clocks change. Where clocks go back across midnight, a day begins at the second midnight, so minutes
-- before it are in the day before, although they have the date of the next.
SELECT
    days.midnight_at + make_interval(secs => numbers.number * lengths.longest_s) AS starts_at,
    least(
        days.midnight_at + make_interval(secs => (numbers.number + 1) * lengths.longest_s), days.next_at
    ) AS ends_at,
    series.day::date AS starts_on
FROM (VALUES ('hour', 3600), ('day', 172800)) AS lengths (period, longest_s)
CROSS JOIN
    LATERAL (
        VALUES (date_trunc('day', local_periods.from_at AT TIME ZONE local_periods.timezone))
    ) AS dates (day)
CROSS JOIN
    LATERAL generate_series(
        CASE
            WHEN dates.day AT TIME ZONE local_periods.timezone > local_periods.from_at
                THEN dates.day - interval '1 day'
            ELSE dates.day
        END,
        local_periods.last_at AT TIME ZONE local_periods.timezone,
        interval '1 day'
    ) AS series (day)
CROSS JOIN
    LATERAL (
        VALUES
        (
            series.day AT TIME ZONE local_periods.timezone,
            (series.day + interval '1 day') AT TIME ZONE local_periods.timezone
        )
    ) AS days (midnight_at, next_at)
CROSS JOIN
    LATERAL generate_series(
        greatest(
            floor(date_part('epoch', local_periods.from_at - days.midnight_at) / lengths.longest_s), 0
        )::integer,
        floor(
            date_part(
                'epoch',
                least(local_periods.last_at, days.next_at - interval '1 microsecond') - days.midnight_at
            )
            / lengths.longest_s
        )::integer
    ) AS numbers (number)
WHERE
    lengths.period = local_periods.period
    AND local_periods.from_at <= local_periods.last_at

$function$;
