SELECT * FROM mart.account_usage(period => 'day')
UNION ALL
SELECT * FROM mart.account_usage()
ORDER BY period, account, starts_on
