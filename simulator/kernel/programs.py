"""Programs by which the kernel calculates the weight of a file. This module does not import the compiler.

A program is two arrays of the same length, operations and operands. It uses a stack:

    size / MB          SIZE, CONSTANT 1e6, DIVIDE
    age ** 1.5         AGE, POWER 3                   (the operand of POWER is in halves)
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

# What a program can push onto the stack: variables, in the order of the arguments of `weigh`, and constants.
SIZE, AGE, USES, ARRIVAL, WORTH, NEXT, CONSTANT = range(7)
# What it can do with the value on top of the stack, or with the two on top.
NEGATE, CEIL, FLOOR, SQRT, POWER, ADD, SUBTRACT, MULTIPLY, DIVIDE, LEAST, MOST = range(7, 18)

# `weigh` takes what is above these for these, so that the largest possible weight of a program is known.
OLDEST_S = 1e12
MOST_USES = 1e12


class Program(NamedTuple):
    """A program, and a stack that is large enough for it."""

    operations: npt.NDArray[np.int64]
    operands: npt.NDArray[np.float64]
    stack: npt.NDArray[np.float64]
