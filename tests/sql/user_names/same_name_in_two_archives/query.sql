SELECT user_names.archive, user_names.user_name, transfers.transfer_id
FROM mart.user_names
INNER JOIN mart.transfers ON user_names.user_id = transfers.user_id
ORDER BY transfers.transfer_id
