SELECT transfer_id, age_s, earlier_get_count FROM mart.file_accesses(since => '2000-01-15T03:00:00Z', client => 'sp2')
