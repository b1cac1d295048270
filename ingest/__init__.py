"""Turns log files into rows exactly once, and never loses a line without saying so."""
