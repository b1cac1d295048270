"""Layouts: log formats that are described in a TOML file instead of being written in Python.

`descriptions.py` says what such a file holds, `files.py` reads it, `parsing.py` makes records of lines with
`columns.py` and `times.py`, `checking.py` shows what a layout makes of a log. The files beside these modules
are the layouts that come with Tapewise; their names are those of the files.
"""

import tapewise.ingest.formats  # noqa: F401  # it imports modules of ours, so it must not be met half way in them
