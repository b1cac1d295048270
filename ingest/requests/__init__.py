"""Derives requests, mounts and tape operations, which several lines report together, from the facts."""
