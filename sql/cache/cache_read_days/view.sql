CREATE VIEW mart.cache_read_days AS

SELECT
    cache_reads.archive,
    cache_reads.kind,
    cache_reads.interface,

    count(*) AS read_count,
    count(*) FILTER (WHERE cache_reads.outcome = 'hit') AS hit_count,
    count(*) FILTER (WHERE cache_reads.outcome = 'partial') AS partial_count,
    count(*) FILTER (WHERE cache_reads.outcome = 'miss') AS miss_count,
    sum(cache_reads.hit_bytes) AS hit_bytes,
    sum(cache_reads.missed_bytes) AS missed_bytes,
    sum(cache_reads.bypassed_bytes) AS bypassed_bytes,
    (sum(cache_reads.hit_bytes) / nullif(sum(cache_reads.size_bytes), 0))::double precision AS byte_hit_ratio,

    (cache_reads.ended_at AT TIME ZONE cache_reads.timezone)::date AS starts_on
FROM mart.cache_reads
WHERE cache_reads.is_failed IS NOT TRUE
GROUP BY
    cache_reads.archive,
    cache_reads.kind,
    cache_reads.interface,
    (cache_reads.ended_at AT TIME ZONE cache_reads.timezone)::date;
