SELECT archive, valley_number, boundary_s, lower_peak_s, upper_peak_s
FROM mart.open_time_valleys()
WHERE archive != 'four'
UNION ALL
SELECT archive, valley_number, boundary_s, NULL, NULL
FROM mart.open_time_valleys()
WHERE archive = 'four'
ORDER BY archive, valley_number
