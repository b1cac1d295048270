"""Layouts: formats that are described by a file."""
