SELECT * FROM mart.activity_cells ORDER BY archive
