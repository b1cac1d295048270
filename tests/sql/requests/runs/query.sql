SELECT
    transfer_id,
    persona
FROM mart.requests
ORDER BY transfer_id
