SELECT * FROM mart.unitree_job_names ORDER BY job_id
