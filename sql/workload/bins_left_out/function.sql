CREATE FUNCTION mart.bins_left_out(
    starts_at timestamptz,
    ends_at timestamptz,
    from_at timestamptz,
    to_at timestamptz,
    outages_began timestamptz[],
    outages_ended timestamptz[],
    bin_s integer
) RETURNS TABLE (
    bin_number integer,
    is_outage boolean
)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $function$

-- The union of the outages, so that time covered by two of them counts once. An outage without an end
-- continues, because a range whose end is null is open.
WITH recorded AS (
    SELECT range_agg(tstzrange(outages.began_at, outages.ended_at)) AS outage_times
    FROM unnest(bins_left_out.outages_began, bins_left_out.outages_ended) AS outages (began_at, ended_at)
),

bins AS (
    SELECT
        series.bin_number,
        recorded.outage_times,
        bins_left_out.starts_at + series.bin_number * bins_left_out.bin_s * interval '1 second' AS bin_at,
        bins_left_out.starts_at + (series.bin_number + 1) * bins_left_out.bin_s * interval '1 second'
            AS next_at
    FROM recorded
    CROSS JOIN
        generate_series(
            0,
            date_part('epoch', bins_left_out.ends_at - bins_left_out.starts_at)::integer
            / bins_left_out.bin_s - 1
        ) AS series (bin_number)
),

covered AS (
    SELECT
        bins.bin_number,
        bins.bin_at >= bins_left_out.from_at AND bins.next_at <= bins_left_out.to_at AS is_in_span,
        (
            SELECT coalesce(sum(date_part('epoch', upper(part.part) - lower(part.part))), 0)
            FROM
                unnest(
                    bins.outage_times * tstzmultirange(tstzrange(bins.bin_at, bins.next_at))
                ) AS part (part)
        ) AS outage_s
    FROM bins
)

-- As with the hours of mart.hour_profiles, a bin is left out if outages cover half of it or more.
SELECT
    covered.bin_number,
    covered.is_in_span AS is_outage
FROM covered
WHERE NOT covered.is_in_span OR covered.outage_s * 2 >= bins_left_out.bin_s

$function$;
