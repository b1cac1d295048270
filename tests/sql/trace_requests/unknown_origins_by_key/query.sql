WITH on_disk AS (
    SELECT * FROM mart.trace_requests(files => 'key', failed => 'all')
),

on_tape AS (
    SELECT * FROM mart.trace_requests(files => 'key', failed => 'all', unknown_origins => 'tape')
),

dropped AS (
    SELECT * FROM mart.trace_requests(files => 'key', failed => 'all', unknown_origins => 'drop')
),

by_size AS (
    SELECT * FROM mart.trace_requests(failed => 'all')
)

SELECT
    on_tape.transfer_id,
    on_tape.file_number,
    on_tape.origin,
    on_tape.is_origin_assumed AS is_assumed,
    on_disk.origin AS or_on_disk,
    coalesce(dropped.left_out, dropped.origin) AS or_dropped,
    by_size.is_origin_assumed AS is_assumed_by_size
FROM on_tape
INNER JOIN on_disk ON on_tape.transfer_id = on_disk.transfer_id
INNER JOIN dropped ON on_tape.transfer_id = dropped.transfer_id
INNER JOIN by_size ON on_tape.transfer_id = by_size.transfer_id
ORDER BY on_tape.transfer_id
