SELECT * FROM mart.simulation_samples
ORDER BY archive, quantity, sampled_at
