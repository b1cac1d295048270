SELECT
    job_id,
    told_by,
    stage_s
FROM mart.requests
ORDER BY job_id
