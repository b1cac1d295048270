SELECT
    log_f,
    df1,
    df2,
    area.log_height,
    area.width
FROM (
    VALUES
    (1, '-1e-9', '5', '3'),
    (2, 'infinity', '5', '3'),
    (3, 'nan', '5', '3'),
    (4, '1', '0', '3'),
    (5, '1', '0.09', '3'),
    (6, '1', '1.1e10', '3'),
    (7, '1', 'nan', '3'),
    (8, '1', NULL, '3'),
    (9, '1', '3', '0'),
    (10, '1', '3', '0.09'),
    (11, '1', '3', '1.1e10'),
    (12, '1', '3', 'nan'),
    (13, '1', '3', NULL)
) AS given (place, log_f, df1, df2)
CROSS JOIN LATERAL mart.log_f_area(log_f::double precision, df1::double precision, df2::double precision) AS area
ORDER BY place
