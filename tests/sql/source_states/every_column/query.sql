SELECT * FROM mart.source_states ORDER BY archive
