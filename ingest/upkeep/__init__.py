"""Maintains loaded data: explains rows, re-reads rejects, drops and replaces sources, and forgets detail."""
