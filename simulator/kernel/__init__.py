"""The event loop and the functions that it calls, all compiled.

These modules use only + - * /, square roots and comparisons, so a run gives the same bits on every machine.
They know nothing about machine files or traces.
"""
