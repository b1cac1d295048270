"""Superset over `mart`: its assets, their provisioning, and its own locked environment."""
