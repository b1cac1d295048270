SELECT * FROM mart.user_shares()
ORDER BY direction, interface DESC, user_rank
