SELECT archive, kind, string_agg(fact, ' ' ORDER BY fact) FILTER (WHERE is_held) AS facts, count(*) AS fact_count
FROM mart.archive_facts
GROUP BY archive, kind
ORDER BY archive
