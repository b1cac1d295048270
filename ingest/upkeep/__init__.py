"""Works on what was loaded: explains a row, re-reads rejects, drops, replaces and forgets."""
