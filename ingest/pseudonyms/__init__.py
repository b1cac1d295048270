"""Hides names of people, machines and files before anything about them is stored; keys and hashes."""
