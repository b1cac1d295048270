"""Loads log files into the warehouse, one or several at a time: all of a file or nothing."""
