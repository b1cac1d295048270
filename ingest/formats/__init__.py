"""The formats that are implemented in Python, and the registry of all formats."""
