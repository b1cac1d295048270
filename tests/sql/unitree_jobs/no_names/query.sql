SELECT to_jsonb(unitree_jobs)::text LIKE ANY (ARRAY['%secret%', '%002718%']) AS has_names FROM mart.unitree_jobs
