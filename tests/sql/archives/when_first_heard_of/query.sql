SELECT * FROM mart.archives
