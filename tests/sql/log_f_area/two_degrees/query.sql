-- The density of ln F over that of the centre is e^y (8 / (6 + 2 e^y))^4 with 2 and 6 degrees of freedom,
-- which at F = 3 is 3 (2/3)^4. The whole area is (4/3)^4, and an eighth of it lies above 3.
SELECT
    exp(centre.log_height) AS centre_height,
    exp(area.log_height) AS height,
    exp(area.log_height) * area.width AS area
FROM mart.log_f_area(0, 2, 6) AS centre
CROSS JOIN mart.log_f_area(ln(3::double precision), 2, 6) AS area
