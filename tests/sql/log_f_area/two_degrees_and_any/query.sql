-- The smallest degrees of freedom, the most, and an F that is no number.
SELECT
    df1::double precision,
    df2::double precision,
    area.log_height,
    area.width
FROM (
    VALUES
    (1, 0, 2, 0.1),
    (2, 0, 2, 6),
    (3, 0, 2, 1e10),
    (4, 1, 2, 6),
    (5, 2, 2, 1e10),
    (6, 5, 2, 6),
    (7, 1000, 2, 1),
    (8, 0, 0.1, 2),
    (9, 0, 6, 2),
    (10, 0, 1e10, 2),
    (11, 2, 1e10, 2),
    (12, 5, 6, 2)
) AS given (place, log_f, df1, df2)
CROSS JOIN LATERAL mart.log_f_area(log_f, df1, df2) AS area
ORDER BY place
