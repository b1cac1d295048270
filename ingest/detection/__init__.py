"""Which format a log file is of, and what a format or layout makes of its lines."""
