SELECT * FROM mart.migrations ORDER BY migration_id
