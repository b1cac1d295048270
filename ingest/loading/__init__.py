"""Loads log files into the warehouse, one or several at a time. Each is loaded completely or not at all."""
