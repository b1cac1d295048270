SELECT * FROM mart.daily_figures ORDER BY value
