"""Turns log files into rows exactly once, and never loses a line silently."""

import os

# The database server needs a core to itself, and reading is not the bottleneck. With threads on all cores, a
# load takes an eighth longer. This must be set before polars is imported.
os.environ.setdefault("POLARS_MAX_THREADS", str(max(1, (os.cpu_count() or 1) // 2)))
# With these settings, Polars' allocator (jemalloc) keeps the memory that one block frees, in large pages, for
# the next blocks. Otherwise the operating system would clear the same pages for each block, which takes a
# sixth of the reading time. The allocator's background thread is off, because it would still return some
# memory to the system. Few threads allocate memory, so few arenas are enough.
os.environ.setdefault(
    "_RJEM_MALLOC_CONF",
    "narenas:2,dirty_decay_ms:-1,muzzy_decay_ms:-1,thp:always,background_thread:false",
)
