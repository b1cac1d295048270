"""Layouts: formats that a file describes."""
