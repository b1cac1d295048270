SELECT * FROM mart.cache_hits() WHERE grouped_by = 'all' ORDER BY archive
