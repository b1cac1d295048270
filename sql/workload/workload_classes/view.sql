CREATE VIEW mart.workload_classes AS

WITH classes AS (
    SELECT * FROM studies.workload_classes
),

models AS (
    SELECT * FROM studies.workload_models
),

archives AS (
    SELECT * FROM core.archives
)

SELECT
    models.name AS model,
    archives.name AS archive,
    archives.kind,
    classes.interface,
    classes.direction,
    classes.class_number,
    classes.name AS class_name,

    classes.request_count,
    classes.size_bytes,
    (classes.request_count / sum(classes.request_count) OVER of_model)::double precision AS request_ratio,
    (classes.size_bytes / sum(classes.size_bytes) OVER of_model)::double precision AS size_ratio,
    power(10::double precision, classes.size_log10) AS centroid_size_bytes,
    power(10::double precision, classes.time_log10) AS centroid_time_s,
    classes.size_log10,
    classes.time_log10,
    classes.cached_count::double precision / nullif(classes.cached_count + classes.uncached_count, 0)
        AS cached_ratio,
    classes.size_quantiles_bytes,
    classes.time_quantiles_s
FROM classes
INNER JOIN models ON classes.model_id = models.id
INNER JOIN archives ON models.archive_id = archives.id
WINDOW of_model AS (PARTITION BY classes.model_id);
