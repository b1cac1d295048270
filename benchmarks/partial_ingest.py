"""`tapewise` without a part of the work of a load, to see what that part costs.

    python -m benchmarks.partial_ingest cells --home ... ingest ...

leaves out `core.activity_cells`, `requests` leaves out `core.requests`.
"""

import sys
from unittest.mock import patch

from tapewise.cli import main

# What a load calls for each, and what is given in its place.
PARTS = {
    "cells": ("ingest.loads.sum_cells", None),
    "requests": ("ingest.derivations.Derivations._put_together", None),
}

if __name__ == "__main__":
    name, result = PARTS[sys.argv.pop(1)]
    with patch(name, new=lambda *_: result):
        main()
