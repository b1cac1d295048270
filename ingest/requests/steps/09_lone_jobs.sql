-- Jobs whose transfer never came, or is not in any log that was read; they can have been staged all the same.
SELECT jobs.*
FROM jobs
WHERE NOT EXISTS (SELECT FROM job_matches WHERE job_matches.job_id = jobs.id)
