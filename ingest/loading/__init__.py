"""One log file, or several at a time, into the warehouse: all of a file or nothing."""
