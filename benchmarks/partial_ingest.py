"""Run `tapewise` with one part of a load's work left out, to measure the cost of that part.

    python -m benchmarks.partial_ingest cells --home ... ingest ...

leaves out all rollups of transfers (`core.activity_cells`, `core.day_cells` and so on); `requests` leaves out
`core.requests`.
"""

import sys
from contextlib import ExitStack
from unittest.mock import patch

from tapewise.cli import main

# For each part, the functions that do its work in a load, and what their replacements return.
PARTS: dict[str, dict[str, object]] = {
    "cells": {"tapewise.ingest.loading.rollup.sum_facts": None},
    "requests": {
        "tapewise.ingest.requests.pending.rebuild_requests": None,
        "tapewise.ingest.requests.at_load.LinesAtLoad.add": None,
    },
}

if __name__ == "__main__":
    with ExitStack() as stack:
        for name, result in PARTS[sys.argv.pop(1)].items():
            stack.enter_context(patch(name, new=lambda *_, result=result: result))
        main()
