CREATE VIEW mart.prepared_envelopes AS

WITH envelopes AS (
    SELECT * FROM studies.prepared_envelopes
),

preparations AS (
    SELECT * FROM studies.envelope_preparations
),

archives AS (
    SELECT * FROM core.archives
)

SELECT
    envelopes.preparation_id,
    archives.name AS archive,
    archives.kind,
    envelopes.interface,
    envelopes.direction,

    envelopes.stratum_size,
    envelopes.stratum_count,
    envelopes.transfer_count,
    envelopes.filtered_count,
    envelopes.latency_s,
    envelopes.slope_s_per_byte,
    envelopes.latency_se_s,
    envelopes.slope_se_s_per_byte,
    envelopes.regression_squares_s2,
    envelopes.residual_squares_s2
FROM envelopes
INNER JOIN preparations ON envelopes.preparation_id = preparations.id
INNER JOIN archives ON preparations.archive_id = archives.id;
