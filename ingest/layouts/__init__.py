"""Layouts: log formats that are described in a TOML file instead of being written in Python.

`descriptions.py` says what such a file holds, `files.py` reads it, `parsing.py` makes records of lines with
`columns.py` and `times.py`; `ingest/detection/layout_checks.py` shows what a layout makes of a log. The TOML
files beside these modules are the layouts that come with Tapewise; their names are those of the files.
"""
