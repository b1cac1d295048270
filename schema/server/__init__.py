"""The embedded PostgreSQL: its programs, its files and its keeper. Knows nothing about our tables."""
