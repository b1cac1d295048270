SELECT
    told_by,
    waited_s
FROM mart.requests
