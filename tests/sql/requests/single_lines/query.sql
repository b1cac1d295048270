SELECT *
FROM mart.requests
ORDER BY archive, ended_at
