SELECT 'all' AS asked, archive, source, extract(HOUR FROM hour_at AT TIME ZONE 'UTC')::integer AS hour, line_count
FROM mart.source_hours(since => '2000-01-15 10:00Z', until => '2000-01-15 20:00Z')
UNION ALL
SELECT 'archive', archive, source, extract(HOUR FROM hour_at AT TIME ZONE 'UTC')::integer, line_count
FROM mart.source_hours(archive => 'dkrz')
UNION ALL
SELECT 'class', archive, source, extract(HOUR FROM hour_at AT TIME ZONE 'UTC')::integer, line_count
FROM mart.source_hours(class_of_service => '5')
UNION ALL
SELECT 'client', archive, source, extract(HOUR FROM hour_at AT TIME ZONE 'UTC')::integer, line_count
FROM mart.source_hours(client => 'cray')
UNION ALL
SELECT 'direction', archive, source, extract(HOUR FROM hour_at AT TIME ZONE 'UTC')::integer, line_count
FROM mart.source_hours(direction => 'put')
UNION ALL
SELECT 'interface', archive, source, extract(HOUR FROM hour_at AT TIME ZONE 'UTC')::integer, line_count
FROM mart.source_hours(interface => 'hsi')
UNION ALL
SELECT 'source', archive, source, extract(HOUR FROM hour_at AT TIME ZONE 'UTC')::integer, line_count
FROM mart.source_hours(source => 'stat')
ORDER BY asked, archive, source, hour
