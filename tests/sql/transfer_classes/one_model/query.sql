SELECT * FROM mart.transfer_classes(model => 'spring')
