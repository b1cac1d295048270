CREATE FUNCTION mart.incidences(
    watched_s double precision[],
    ends integer[],
    weights numeric[]
) RETURNS TABLE (
    after_s double precision,
    at_risk_weight numeric,
    event_weight numeric,
    survival_ratio double precision,
    incidence_ratio double precision
)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $function$

WITH moments AS (
    SELECT
        found.watched_s AS after_s,
        sum(found.weight) AS weight,
        coalesce(sum(found.weight) FILTER (WHERE found.ending = 1), 0) AS event_weight,
        coalesce(sum(found.weight) FILTER (WHERE found.ending > 0), 0) AS ended_weight
    FROM
        unnest(incidences.watched_s, incidences.ends, incidences.weights)
            AS found (watched_s, ending, weight)
    WHERE found.watched_s IS NOT NULL
    GROUP BY found.watched_s
),

-- What was watched just as long is still at risk when something ends.
risks AS (
    SELECT
        moments.*,
        sum(moments.weight) OVER (ORDER BY moments.after_s DESC) AS at_risk_weight
    FROM moments
),

-- When all that is left ends, nothing is at risk later, so the logarithm of 0 is not missed.
shares AS (
    SELECT
        risks.*,
        (risks.event_weight / risks.at_risk_weight)::double precision AS event_ratio,
        risks.ended_weight = risks.at_risk_weight AS is_last,
        exp(
            sum(ln(nullif(1 - risks.ended_weight / risks.at_risk_weight, 0)::double precision))
                OVER (ORDER BY risks.after_s)
        ) AS survival_ratio
    FROM risks
    WHERE risks.at_risk_weight > 0
),

steps AS (
    SELECT
        shares.*,
        coalesce(lag(shares.survival_ratio) OVER (ORDER BY shares.after_s), 1) AS survival_before
    FROM shares
)

SELECT
    steps.after_s,
    steps.at_risk_weight,
    steps.event_weight,
    CASE WHEN steps.is_last THEN 0 ELSE steps.survival_ratio END AS survival_ratio,
    sum(steps.survival_before * steps.event_ratio) OVER (ORDER BY steps.after_s) AS incidence_ratio
FROM steps

$function$;
