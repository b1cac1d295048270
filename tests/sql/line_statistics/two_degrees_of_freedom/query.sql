SELECT *
FROM mart.line_statistics(4, -1, 0.5, 8, 0.5, 9, 6)
