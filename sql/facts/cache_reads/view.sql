CREATE VIEW mart.cache_reads AS

WITH cache_reads AS (
    SELECT
        cache_reads.*,
        cache_reads.hit_bytes + cache_reads.missed_bytes + cache_reads.bypassed_bytes AS size_bytes
    FROM core.cache_reads
),

archives AS (
    SELECT * FROM core.archives
),

-- If two logs report the same reads, only one of them is counted.
sources AS (
    SELECT * FROM ledger.sources
    WHERE is_counted
)

SELECT
    cache_reads.id AS cache_read_id,
    archives.name AS archive,
    archives.kind,
    archives.timezone,
    sources.name AS source,
    cache_reads.interface,
    cache_reads.class_of_service,
    cache_reads.file_key,
    CASE
        WHEN cache_reads.size_bytes = 0 THEN NULL
        WHEN cache_reads.hit_bytes = cache_reads.size_bytes THEN 'hit'
        WHEN cache_reads.hit_bytes = 0 THEN 'miss'
        ELSE 'partial'
    END AS outcome,

    cache_reads.size_bytes,
    cache_reads.hit_bytes,
    cache_reads.missed_bytes,
    cache_reads.bypassed_bytes,
    cache_reads.hit_bytes::double precision / nullif(cache_reads.size_bytes, 0) AS byte_hit_ratio,

    cache_reads.is_failed,
    cache_reads.is_time_ambiguous,

    cache_reads.ended_at
FROM cache_reads
INNER JOIN archives ON cache_reads.archive_id = archives.id
INNER JOIN sources ON cache_reads.source_id = sources.id;
