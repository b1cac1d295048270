"""Hides names of people, machines and files before anything is stored of them; keys and hashes."""
