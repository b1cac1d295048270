WITH answers (asked_for, archive, weekday_name, hour, transfer_count, hour_count, mean_transfer_count) AS (
    SELECT 'all', archive, weekday_name, hour, transfer_count, hour_count, mean_transfer_count
    FROM mart.hour_profiles()
    WHERE
        (archive, weekday_name, hour) IN (
            ('llnl', 'Mon', 9), ('llnl', 'Mon', 10), ('llnl', 'Tue', 12), ('llnl', 'Tue', 13), ('llnl', 'Tue', 14),
            ('llnl', 'Tue', 15), ('llnl', 'Wed', 5), ('llnl', 'Wed', 6), ('llnl', 'Wed', 12), ('llnl', 'Thu', 8),
            ('llnl', 'Thu', 9), ('llnl', 'Thu', 10), ('llnl', 'Thu', 11), ('llnl', 'Fri', 11), ('llnl', 'Fri', 12),
            ('llnl', 'Fri', 13), ('llnl', 'Sun', 12), ('dkrz', 'Sun', 1), ('dkrz', 'Sun', 2), ('dkrz', 'Sat', 13),
            ('sdsc', 'Sun', 1), ('sdsc', 'Sun', 2), ('sdsc', 'Tue', 0), ('forgetful', 'Mon', 5), ('forgetful', 'Mon', 6)
        )
    UNION ALL
    SELECT 'two days', archive, weekday_name, hour, transfer_count, hour_count, mean_transfer_count
    FROM mart.hour_profiles(archive => 'llnl', since => '2000-01-12 10:30', until => '2000-01-13 14:00')
    WHERE (weekday_name, hour) IN (('Wed', 9), ('Wed', 10), ('Thu', 13), ('Thu', 14))
    UNION ALL
    SELECT 'interface', archive, weekday_name, hour, transfer_count, hour_count, mean_transfer_count
    FROM mart.hour_profiles(archive => 'llnl', interface => 'ftp')
    WHERE (weekday_name, hour) IN (('Wed', 11), ('Wed', 12), ('Thu', 8), ('Thu', 9))
    UNION ALL
    SELECT 'direction', archive, weekday_name, hour, transfer_count, hour_count, mean_transfer_count
    FROM mart.hour_profiles(archive => 'llnl', direction => 'put')
    WHERE (weekday_name, hour) IN (('Wed', 11), ('Wed', 12), ('Thu', 8), ('Thu', 9))
)

SELECT *
FROM answers
ORDER BY asked_for, archive, array_position(ARRAY['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'], weekday_name), hour
