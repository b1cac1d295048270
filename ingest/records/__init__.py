"""What a line becomes: the columns of a record, and what every format shares."""
