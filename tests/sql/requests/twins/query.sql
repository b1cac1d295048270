SELECT
    told_by,
    interface,
    transfer_id,
    twin_transfer_id,
    job_id,
    persona,
    waited_s,
    cache_evidence,
    (SELECT min(users.name) FROM core.users WHERE users.id = requests.user_id) AS user_name
FROM mart.requests
ORDER BY ended_at, transfer_id
