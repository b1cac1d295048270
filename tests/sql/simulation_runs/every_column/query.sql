SELECT * FROM mart.simulation_runs
ORDER BY archive
