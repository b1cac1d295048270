"""Turns log files into rows exactly once, and never loses a line without saying so."""

import os

# The server needs a core of its own, and what reads is not what holds it up: with threads on all cores a load
# takes an eighth longer. It has to be said before polars is imported.
os.environ.setdefault("POLARS_MAX_THREADS", str(max(1, (os.cpu_count() or 1) // 2)))
# What polars' allocator (jemalloc) has had back from a block it keeps for the next ones, in large pages: to
# have the system clear the same pages anew each time takes a sixth of the reading, and its own thread gives
# back some nevertheless. Few threads share its memory.
os.environ.setdefault(
    "_RJEM_MALLOC_CONF",
    "narenas:2,dirty_decay_ms:-1,muzzy_decay_ms:-1,thp:always,background_thread:false",
)
