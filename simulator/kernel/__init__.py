"""The event loop and what it calls, compiled: in these modules only + - * /, square roots and comparisons.

So a run gives the same bits on every machine. Nothing here knows what a machine file or a trace is.
"""
