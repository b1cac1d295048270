SELECT account, failed_count, failures_unknown_count FROM mart.account_usage() ORDER BY account
