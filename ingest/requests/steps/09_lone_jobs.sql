-- Jobs whose transfer never happened, or is not in any log that was read. Their files may still have been
-- staged.
SELECT jobs.*
FROM jobs
WHERE NOT EXISTS (SELECT FROM job_matches WHERE job_matches.job_id = jobs.id)
