"""The warehouse itself: its tables, the connection to its database, and bulk loading.

This package imports none of our other packages.
"""
