"""Superset on top of `mart`: its assets, their provisioning, and its own locked environment."""
