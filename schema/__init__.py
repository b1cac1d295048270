"""The warehouse itself: its tables, how to reach its database, and how rows get into it in bulk.

Imports none of our other packages.
"""
