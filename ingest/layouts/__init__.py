"""Layouts: log formats that are described in a TOML file instead of being written in Python.

`descriptions.py` defines what a layout file contains, and `files.py` reads it. `parsing.py` turns lines into
records, with the help of `keys.py` (JSON objects), `columns.py` and `times.py`.
`ingest/detection/layout_checks.py` shows how a layout reads a log. The TOML files next to these modules are
the layouts that come with Tapewise; a layout's name is that of its file.
"""
