SELECT * FROM mart.envelope_points(stratum_size => 2) ORDER BY direction, stratum
