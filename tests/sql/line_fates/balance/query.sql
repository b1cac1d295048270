SELECT * FROM mart.line_fates
ORDER BY archive, source, fate, reason
