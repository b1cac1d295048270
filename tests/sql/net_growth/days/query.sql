SELECT * FROM mart.net_growth() ORDER BY archive, starts_on
