-- One row per transfer, however many logs report it. `logged_at` is its end according to the log that
-- contains the persona.
SELECT
    transfers.*,
    twin.id AS twin_id,
    coalesce(transfers.persona, twin.persona) AS known_persona,
    CASE WHEN transfers.persona IS NULL THEN twin.ended_at ELSE transfers.ended_at END AS logged_at,
    CASE WHEN transfers.persona IS NULL THEN twin.source_id ELSE transfers.source_id END AS logged_source_id,
    coalesce(transfers.user_id, twin.user_id) AS known_user_id,
    coalesce(transfers.class_of_service, twin.class_of_service) AS known_class_of_service,
    coalesce(transfers.file_key, twin.file_key) AS known_file_key,
    coalesce(transfers.open_s, twin.open_s) AS known_open_s
FROM transfers
LEFT JOIN
    (twins INNER JOIN transfers AS twin ON twins.twin_id = twin.id)
    ON transfers.id = twins.transfer_id
WHERE NOT EXISTS (SELECT FROM twins AS others WHERE others.twin_id = transfers.id)
