"""The embedded PostgreSQL: its programs, its files, and who stops it. Knows nothing of our tables."""
