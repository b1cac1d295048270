CREATE FUNCTION mart.incidences_at(
    watched_s double precision[],
    ends integer[],
    weights numeric[],
    after_s double precision[]
) RETURNS TABLE (
    after_s double precision,
    survival_ratio double precision,
    incidence_ratio double precision
)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $function$

WITH steps AS (
    SELECT * FROM mart.incidences(incidences_at.watched_s, incidences_at.ends, incidences_at.weights)
),

limits AS (
    SELECT CASE WHEN min(steps.survival_ratio) = 0 THEN 'infinity' ELSE max(steps.after_s) END AS last_s
    FROM steps
)

-- Survival only falls, and the incidence only rises.
SELECT
    asked_for.after_s,
    coalesce(min(steps.survival_ratio), 1) AS survival_ratio,
    coalesce(max(steps.incidence_ratio), 0) AS incidence_ratio
FROM unnest(incidences_at.after_s) AS asked_for (after_s)
INNER JOIN limits ON asked_for.after_s <= limits.last_s
LEFT JOIN steps ON asked_for.after_s >= steps.after_s
GROUP BY asked_for.after_s

$function$;
