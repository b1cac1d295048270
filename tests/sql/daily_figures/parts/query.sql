SELECT section, item, part, figure, value FROM mart.daily_figures ORDER BY section, part
