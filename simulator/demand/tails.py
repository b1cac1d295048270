"""The share of the uses whose file was last used longer ago than the log lasts. No log can say it.

What describes a run reads these numbers, too. It works without the simulator's compiler, so they are not in
a module that needs it.
"""

DEFAULT_TAIL = 0.05
LEAST_TAIL, MOST_TAIL = 0.03, 0.10
