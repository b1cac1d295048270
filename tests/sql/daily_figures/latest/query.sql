SELECT archive, value FROM mart.daily_figures ORDER BY value
