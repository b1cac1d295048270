"""The warehouse itself: its tables, how to reach its database, and how rows get into it in bulk.

Imports none of our other packages. `schema` is also the name of a package on the public index,
which would shadow this one in silence; `tapewise.cli` checks at start that it has not.
"""
