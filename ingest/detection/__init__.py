"""Detects the format of a log file, and shows what a format or layout makes of its lines."""
