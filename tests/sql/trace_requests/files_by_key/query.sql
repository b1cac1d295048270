WITH by_key AS (
    SELECT * FROM mart.trace_requests(files => 'key', failed => 'all')
),

by_size AS (
    SELECT * FROM mart.trace_requests(files => 'size', failed => 'all')
)

SELECT
    by_key.transfer_id,
    by_key.file_number,
    by_key.origin,
    by_size.file_number AS number_by_size,
    by_size.origin AS origin_by_size
FROM by_key
INNER JOIN by_size ON by_key.transfer_id = by_size.transfer_id
ORDER BY by_key.place
