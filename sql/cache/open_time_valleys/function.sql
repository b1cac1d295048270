CREATE FUNCTION mart.open_time_valleys(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    size_from_bytes bigint DEFAULT NULL,
    size_to_bytes bigint DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    valley_number bigint,
    request_count bigint,
    boundary_s double precision,
    lower_peak_s double precision,
    upper_peak_s double precision,
    depth_ratio double precision,
    sigma_count double precision
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH opens AS (
    SELECT selected.*
    FROM
        mart.selected_opens(
            archive => open_time_valleys.archive,
            since => open_time_valleys.since,
            until => open_time_valleys.until,
            interface => open_time_valleys.interface,
            direction => coalesce(open_time_valleys.direction, 'get'),
            client => open_time_valleys.client,
            class_of_service => open_time_valleys.class_of_service,
            is_exact => TRUE
        ) AS selected
),

-- There are fifty bins per factor of ten. All times below a tenth of a second share a bin, so that steps of a
-- coarse clock do not look like valleys.
asked_for AS (
    SELECT
        opens.archive,
        opens.kind,
        round(50 * log(greatest(opens.open_s, 0.1)))::integer AS bin
    FROM opens
    WHERE
        NOT opens.is_staging_bypassed
        -- Saturated sizes are left out.
        AND (opens.is_sized OR opens.size_bytes IS NULL)
        AND (
            open_time_valleys.size_from_bytes IS NULL
            OR opens.size_bytes >= open_time_valleys.size_from_bytes
        )
        AND (
            open_time_valleys.size_to_bytes IS NULL
            OR opens.size_bytes <= open_time_valleys.size_to_bytes
        )
),

bins AS (
    SELECT
        asked_for.archive,
        asked_for.kind,
        asked_for.bin,
        count(*) AS request_count
    FROM asked_for
    GROUP BY asked_for.archive, asked_for.kind, asked_for.bin
),

archives AS (
    SELECT
        bins.archive,
        bins.kind,
        sum(bins.request_count) AS request_count,
        min(bins.bin) AS first_bin,
        max(bins.bin) AS last_bin
    FROM bins
    GROUP BY bins.archive, bins.kind
),

-- The density, smoothed with a Gaussian of four bins (0.08 on the scale of log10, a factor of 1.2), and its
-- variance, given that the variance of a count is the count itself. Terms are added in a fixed order, so that
-- the sums are always identical to the last bit. Below e^-700 PostgreSQL would raise an error.
curve AS (
    SELECT
        archives.archive,
        points.bin,
        sum(bins.request_count) FILTER (WHERE bins.bin = points.bin) AS request_count,
        sum(
            bins.request_count * exp(-least(power(bins.bin - points.bin, 2) / 32, 700))
            ORDER BY bins.bin
        ) AS density,
        sum(
            bins.request_count * exp(-least(power(bins.bin - points.bin, 2) / 16, 700))
            ORDER BY bins.bin
        ) AS variance
    FROM archives
    CROSS JOIN LATERAL generate_series(archives.first_bin, archives.last_bin) AS points (bin)
    INNER JOIN bins ON archives.archive = bins.archive
    GROUP BY archives.archive, points.bin
),

neighbours AS (
    SELECT
        curve.*,
        lag(curve.density) OVER along AS density_before,
        lead(curve.density) OVER along AS density_after
    FROM curve
    WINDOW along AS (PARTITION BY curve.archive ORDER BY curve.bin)
),

-- A file on tape never opens within two seconds, so a valley below that means nothing.
minima AS (
    SELECT * FROM neighbours
    WHERE
        density <= density_before
        AND density < density_after
        AND bin >= 50 * log(2)
),

-- The basin of a minimum extends to either side until the curve falls below the minimum.
basins AS (
    SELECT
        minima.archive,
        minima.bin,
        minima.density,
        minima.variance,
        coalesce(
            max(curve.bin) FILTER (WHERE curve.bin < minima.bin AND curve.density < minima.density),
            min(curve.bin) - 1
        ) AS after_bin,
        coalesce(
            min(curve.bin) FILTER (WHERE curve.bin > minima.bin AND curve.density < minima.density),
            max(curve.bin) + 1
        ) AS before_bin
    FROM minima
    INNER JOIN curve ON minima.archive = curve.archive
    GROUP BY minima.archive, minima.bin, minima.density, minima.variance
),

-- The highest point on either side, as an array of its density, variance and bin.
peaks AS (
    SELECT
        basins.archive,
        basins.bin,
        basins.density,
        basins.variance,
        max(ARRAY[curve.density, curve.variance, curve.bin]) FILTER (
            WHERE curve.bin < basins.bin
        ) AS lower_peak,
        max(ARRAY[curve.density, curve.variance, curve.bin]) FILTER (
            WHERE curve.bin > basins.bin
        ) AS upper_peak,
        sum(curve.request_count) FILTER (WHERE curve.bin < basins.bin) AS lower_count,
        sum(curve.request_count) FILTER (WHERE curve.bin > basins.bin) AS upper_count
    FROM basins
    INNER JOIN curve
        ON
            basins.archive = curve.archive
            AND basins.after_bin < curve.bin
            AND basins.before_bin > curve.bin
    GROUP BY basins.archive, basins.bin, basins.density, basins.variance
),

judged AS (
    SELECT
        peaks.*,
        peaks.density / least(peaks.lower_peak[1], peaks.upper_peak[1]) AS depth_ratio,
        (least(peaks.lower_peak[1], peaks.upper_peak[1]) - peaks.density)
        / sqrt((least(peaks.lower_peak, peaks.upper_peak))[2] + peaks.variance) AS sigma_count
    FROM peaks
),

-- Minima that are deep enough, deeper than chance, and have more than a handful of requests on either side.
deepest AS (
    SELECT
        archives.archive,
        archives.kind,
        archives.request_count,
        judged.bin,
        judged.depth_ratio,
        judged.sigma_count,
        power(10, judged.bin / 50::double precision) AS boundary_s,
        power(10, judged.lower_peak[3] / 50) AS lower_peak_s,
        power(10, judged.upper_peak[3] / 50) AS upper_peak_s,
        row_number() OVER (
            PARTITION BY archives.archive
            ORDER BY judged.depth_ratio, judged.bin
        ) AS depth_rank
    FROM judged
    INNER JOIN archives ON judged.archive = archives.archive
    WHERE
        judged.depth_ratio <= 0.8
        AND judged.sigma_count >= 3
        AND least(judged.lower_count, judged.upper_count) >= 0.02 * archives.request_count
)

SELECT
    deepest.archive,
    deepest.kind,
    row_number() OVER (PARTITION BY deepest.archive ORDER BY deepest.bin) AS valley_number,

    deepest.request_count::bigint AS request_count,
    deepest.boundary_s,
    deepest.lower_peak_s,
    deepest.upper_peak_s,
    deepest.depth_ratio,
    deepest.sigma_count
FROM deepest
WHERE deepest.depth_rank <= 3

$function$;
