WITH asked (archive, interface, direction, client, class_of_service) AS (
    VALUES
    ('a_goes_on', NULL, NULL, 'cray', NULL),
    ('a_goes_on', NULL, NULL, NULL, 'a'),
    ('b_begins', NULL, NULL, 'cray', NULL),
    ('c_ends', NULL, NULL, 'cray', NULL),
    ('d_interface', 'ftp', NULL, NULL, NULL),
    ('d_interface', 'nft', NULL, NULL, NULL),
    ('e_direction', NULL, 'put', NULL, NULL),
    ('e_direction', NULL, 'get', NULL, NULL)
)

SELECT
    concat_ws(
        ' ', asked.archive, asked.interface, asked.direction, asked.client, asked.class_of_service
    ) AS asked_for,
    answer.last_transfer_id,
    answer.next_transfer_id,
    answer.is_edge,
    answer.is_time_ambiguous,
    answer.started_at,
    answer.ended_at
FROM asked
CROSS JOIN
    LATERAL mart.idle_intervals(
        asked.archive,
        '2000-01-15',
        '2000-01-16',
        asked.interface,
        asked.direction,
        asked.client,
        asked.class_of_service
    ) AS answer
ORDER BY asked_for, answer.started_at
