"""Turns each line of a log file into rows exactly once, and never drops a line silently."""

import os

# The database server needs a core to itself, and reading is not the bottleneck: with polars threads on all
# cores, a load takes one eighth longer. This must be set before polars is imported.
os.environ.setdefault("POLARS_MAX_THREADS", str(max(1, (os.cpu_count() or 1) // 2)))
# Makes polars' allocator (jemalloc) reuse the memory of one block for the next. Otherwise the operating
# system would clear the same pages for every block, which takes one sixth of the reading time. With large
# pages (thp:always), it would clear more than is used, and the load of a million lines would take a tenth
# longer. The allocator's background thread is off because it would still return some memory to the system.
# A few arenas are enough because few threads allocate memory.
os.environ.setdefault(
    "_RJEM_MALLOC_CONF", "narenas:2,dirty_decay_ms:-1,muzzy_decay_ms:-1,background_thread:false"
)
# numpy's threads for linear algebra, one for each core, spin for a while when they are started. No load needs
# them.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
