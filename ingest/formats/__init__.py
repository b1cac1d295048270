"""The formats that are read by a module of their own, and the registry of all formats."""
