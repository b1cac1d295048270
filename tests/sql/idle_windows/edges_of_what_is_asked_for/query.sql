SELECT archive, starts_on, idle_count, is_edge
FROM mart.idle_windows('a_interface', '2000-01-14', '2000-01-17', interface => 'ftp')
UNION ALL
SELECT archive, starts_on, idle_count, is_edge
FROM mart.idle_windows('b_direction', '2000-01-14', '2000-01-17', direction => 'put')
UNION ALL
SELECT archive, starts_on, idle_count, is_edge
FROM mart.idle_windows('c_begins', '2000-01-14', '2000-01-17')
ORDER BY archive, starts_on
