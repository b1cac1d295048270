SELECT archive, boundary_s, depth_ratio FROM mart.open_time_valleys() ORDER BY archive
