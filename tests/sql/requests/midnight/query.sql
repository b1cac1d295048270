SELECT
    transfer_id,
    told_by,
    job_id,
    stage_id,
    waited_s,
    submitted_at
FROM mart.requests
ORDER BY transfer_id
