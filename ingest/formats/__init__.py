"""The formats that have a module of their own, and the registry of all formats."""
