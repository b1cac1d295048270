SELECT archive, kind, view_name, state, why
FROM mart.coverage
WHERE view_name IN ('cache_hits', 'file_accesses', 'stages', 'archives', 'activity', 'user_shares', 'net_growth')
ORDER BY archive, view_name
