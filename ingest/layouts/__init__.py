"""Layouts: log formats that are described in a TOML file instead of being written in Python.

`descriptions.py` defines what such a file contains, `files.py` reads it, `parsing.py` turns lines into
records with `columns.py` and `times.py`; `ingest/detection/layout_checks.py` shows what a layout makes of a
log. The TOML files next to these modules are the layouts that come with Tapewise; each is named after its
file.
"""
