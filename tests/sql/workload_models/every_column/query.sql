SELECT * FROM mart.workload_models
ORDER BY model
