SELECT * FROM mart.class_days()
ORDER BY model, archive, interface, direction, starts_on, class_number
