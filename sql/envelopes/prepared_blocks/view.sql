CREATE VIEW mart.prepared_blocks AS

WITH blocks AS (
    SELECT * FROM studies.prepared_blocks
),

preparations AS (
    SELECT * FROM studies.envelope_preparations
),

archives AS (
    SELECT * FROM core.archives
)

SELECT
    blocks.preparation_id,
    archives.name AS archive,
    archives.kind,
    blocks.interface,
    blocks.direction,

    blocks.block_size,
    blocks.block,
    blocks.transfer_count,
    blocks.smallest_bytes,
    blocks.mean_bytes,
    blocks.largest_bytes,
    blocks.mean_residual_s,
    blocks.p99_residual_s,

    blocks.is_outlier,
    blocks.is_full
FROM blocks
INNER JOIN preparations ON blocks.preparation_id = preparations.id
INNER JOIN archives ON preparations.archive_id = archives.id;
