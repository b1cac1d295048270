CREATE VIEW mart.coverage AS

WITH archive_facts AS (
    SELECT * FROM mart.archive_facts
),

-- `db upgrade` inserts the `needs` of every metadata.yaml here.
needs AS (
    SELECT
        said.need ->> 'view_name' AS view_name,
        said.need ->> 'need' AS need,
        said.need ->> 'extent' AS extent
    FROM jsonb_array_elements('[]'::jsonb) AS said (need)
),

-- A need is met by any one of its facts.
met AS (
    SELECT
        archive_facts.archive,
        archive_facts.kind,
        needs.view_name,
        needs.need,
        needs.extent,
        bool_or(archive_facts.is_held) AS is_met
    FROM archive_facts
    INNER JOIN needs ON archive_facts.fact = any(string_to_array(needs.need, ' or '))
    GROUP BY archive_facts.archive, archive_facts.kind, needs.view_name, needs.need, needs.extent
),

with_lines AS (
    SELECT archive_facts.archive
    FROM archive_facts
    WHERE archive_facts.fact IN ('lines', 'activity') AND archive_facts.is_held
    GROUP BY archive_facts.archive
)

SELECT
    met.archive,
    met.kind,
    met.view_name,
    CASE
        WHEN bool_and(met.is_met) THEN 'fed'
        WHEN bool_and(met.is_met OR met.extent = 'part') THEN 'partly'
        ELSE 'not'
    END AS state,
    -- Facts that the whole view needs come first.
    'not in this log: ' || string_agg(
        replace(met.need, '_', ' '), ', '
        ORDER BY met.extent, met.need
    ) FILTER (WHERE NOT met.is_met) AS why
FROM met
INNER JOIN with_lines ON met.archive = with_lines.archive
GROUP BY met.archive, met.kind, met.view_name;
