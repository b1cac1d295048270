"""Detects the format of a log file, and shows how a format or layout reads its lines."""
