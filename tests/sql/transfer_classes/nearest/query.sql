SELECT model, archive, transfer_id, interface, direction, class_number, class_name, set_apart, time_s
FROM mart.transfer_classes()
ORDER BY model, transfer_id
