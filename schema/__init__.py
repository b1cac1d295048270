"""The warehouse itself: its tables, the connection to its database, and bulk loading.

Imports none of our other packages.
"""
