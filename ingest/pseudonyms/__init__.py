"""Hides names of people, machines and files before anything is stored, and makes keys and hashes."""
