"""Hides names of people, machines and files before anything is stored; makes keys and hashes."""
