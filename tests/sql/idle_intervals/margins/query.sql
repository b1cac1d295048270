WITH asked (archive, until, shortest_s) AS (
    VALUES
    ('a_bounds', timestamptz '2000-01-16', NULL::double precision),
    ('b_within', '2000-01-16', NULL),
    ('c_two_days', '2000-01-16', 172800),
    ('d_under_way', '2000-01-16', NULL),
    ('e_cut', '2000-01-16 00:05', NULL),
    ('f_cut', '2000-01-16 00:05', NULL)
)

SELECT
    answer.archive,
    answer.last_transfer_id,
    answer.next_transfer_id,
    answer.idle_s,
    answer.is_edge,
    answer.started_at,
    answer.ended_at
FROM asked
CROSS JOIN
    LATERAL mart.idle_intervals(
        archive => asked.archive,
        since => '2000-01-15',
        until => asked.until,
        shortest_s => asked.shortest_s
    ) AS answer
ORDER BY answer.archive, answer.started_at
