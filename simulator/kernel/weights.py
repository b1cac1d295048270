"""The weight of a file: of the files that may leave the disk, the one of the largest weight leaves first.

A program (`programs.py`) calculates it. Only + - * /, square roots, rounding and comparisons are used, so
that weights are the same without the compiler, to the last bit.
"""

import numpy as np
import numpy.typing as npt

from tapewise.simulator.kernel.compiler import compiled, compiled_entry
from tapewise.simulator.kernel.programs import (
    ADD,
    AGE,
    ARRIVAL,
    CEIL,
    CONSTANT,
    DIVIDE,
    FLOOR,
    LEAST,
    MOST_USES,
    MULTIPLY,
    NEGATE,
    NEXT,
    OLDEST_S,
    POWER,
    SIZE,
    SQRT,
    SUBTRACT,
    USES,
    WORTH,
    Program,
)

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@compiled
def raise_to(base: float, halves: int) -> float:
    """Return `base` to the power of `halves` / 2."""
    result = 1.0
    for _ in range(abs(halves) // 2):
        result *= base
    if halves % 2 != 0:
        result *= np.sqrt(base)
    return 1.0 / result if halves < 0 else result


@compiled
def weigh(
    program: Program, size: float, age_s: float, uses: float, arrival: float, worth: float, next_use: float
) -> float:
    """Run a program for a file.

    The arguments are its bytes, the time since its last use, its uses since it came onto the disk, anything
    that grows with the time when it came, its rank by GDSF, and the place of its next use.
    """
    stack, top = program.stack, -1
    for place in range(len(program.operations)):
        operation, operand = program.operations[place], program.operands[place]
        if operation <= CONSTANT:
            top += 1
            if operation == SIZE:
                stack[top] = size
            elif operation == AGE:
                stack[top] = min(age_s, OLDEST_S)
            elif operation == USES:
                stack[top] = max(1.0, min(uses, MOST_USES))
            elif operation == ARRIVAL:
                stack[top] = arrival
            elif operation == WORTH:
                stack[top] = worth
            elif operation == NEXT:
                stack[top] = next_use
            else:
                stack[top] = operand
        elif operation <= POWER:
            stack[top] = _change(operation, stack[top], operand)
        else:
            top -= 1
            stack[top] = _join(operation, stack[top], stack[top + 1])
    return float(stack[0])


@compiled
def _change(operation: int, value: float, operand: float) -> float:
    if operation == NEGATE:
        return -value
    if operation == CEIL:
        return float(np.ceil(value))
    if operation == FLOOR:
        return float(np.floor(value))
    if operation == SQRT:
        return float(np.sqrt(value))
    return raise_to(value, int(operand))


@compiled
def _join(operation: int, left: float, right: float) -> float:
    if operation == ADD:
        return left + right
    if operation == SUBTRACT:
        return left - right
    if operation == MULTIPLY:
        return left * right
    if operation == DIVIDE:
        return left / right
    if operation == LEAST:
        return min(left, right)
    return max(left, right)


@compiled
def rank_by_gdsf(floor: float, uses: int, size: float) -> float:
    """Return the rank of a file by GDSF at its use; `floor` is that of the file that left the disk last."""
    return float(floor + uses / max(size, 1.0))


@compiled_entry
def weigh_all(program: Program, sizes: Floats, ages_s: Floats, uses: Integers, weights: Floats) -> None:
    """Write to `weights` the weight of each file, as if it had come onto the disk at its last use."""
    for file in range(len(sizes)):
        worth = rank_by_gdsf(0.0, uses[file], sizes[file])
        weights[file] = weigh(program, sizes[file], ages_s[file], uses[file], -ages_s[file], worth, 0.0)
