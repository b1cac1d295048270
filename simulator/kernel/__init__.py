"""The event loop and the functions that it calls, all compiled.

These modules use only + - * /, square roots and comparisons, so the results of a run are the same on every
computer, to the last bit. They know nothing about machine files or traces.
"""
