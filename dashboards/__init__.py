"""Superset dashboards on top of `mart`: the assets, their provisioning, and a locked environment."""
