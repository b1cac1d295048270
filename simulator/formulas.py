"""Formulas for the weight of a file, such as `ceil(size / MB) * ceil(age / hour) ** 1.5`, as kernel programs.

A formula is parsed with `ast`, and never run by Python: only what is listed here is accepted. Each part of it
gets the range of its possible values. All operations are monotonic, and so is their rounding, so no file has
a weight outside that range. A formula is refused if a weight might not be finite.
"""

import ast
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np

from tapewise.simulator.kernel.programs import (
    ADD,
    AGE,
    ARRIVAL,
    CEIL,
    CONSTANT,
    DIVIDE,
    FLOOR,
    LEAST,
    MOST,
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

VARIABLES = {"size": SIZE, "age": AGE, "uses": USES}
# Only the rules in `policies.py` have these.
INTERNAL_VARIABLES = {"arrival": ARRIVAL, "worth": WORTH, "next_use": NEXT}
UNITS = {
    "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "minute": 60.0, "hour": 3600.0, "day": 86_400.0,
}  # fmt: skip
_FUNCTIONS = {"ceil": CEIL, "floor": FLOOR, "sqrt": SQRT, "min": LEAST, "max": MOST}
_OPERATORS: dict[type[ast.operator], int] = {
    ast.Add: ADD, ast.Sub: SUBTRACT, ast.Mult: MULTIPLY, ast.Div: DIVIDE,
}  # fmt: skip
CONTENTS = f"{', '.join((*VARIABLES, *UNITS, *_FUNCTIONS))}, numbers, + - * / ^ and parentheses"
LONGEST, HIGHEST_POWER = 300, 16
_ACCEPTED = re.compile(r"[\w.+\-*/^(), ]*", re.ASCII)
_LARGE = 1e300
_RANGES = {SIZE: (0.0, 2.0**63), AGE: (0.0, OLDEST_S), USES: (1.0, MOST_USES)}


@dataclass
class _Part:
    """A part of a formula: its steps, the range of its values, and how many places of the stack it needs."""

    steps: list[tuple[int, float]]
    least: float
    most: float
    depth: int = 1


def parse_formula(text: str, variables: Mapping[str, int] = VARIABLES) -> Program:
    """Make a program of a formula. Raises ValueError if it is not one, or a weight might not be finite."""
    if len(text) > LONGEST:
        raise ValueError(f"a formula has at most {LONGEST} characters, this one has {len(text)}")
    if not _ACCEPTED.fullmatch(text):
        raise ValueError(f"'{text}' is not a formula: it may contain {CONTENTS}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python warns of `1if`, which is refused below
            tree = ast.parse(text.strip().replace("^", "**"), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(f"'{text}' is not a formula, such as size * age ^ 1.5") from None
    part = _read(tree.body, variables)
    operations, operands = zip(*part.steps, strict=True)
    return Program(
        np.array(operations, np.int64), np.array(operands, np.float64), np.zeros(part.depth, np.float64)
    )


def _read(node: ast.expr, variables: Mapping[str, int]) -> _Part:  # noqa: PLR0911  # one per kind of node
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return _make_constant(value)
        case ast.Name(id=name):
            return _read_name(name, variables)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _change(NEGATE, _read(operand, variables))
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _read(operand, variables)
        case ast.BinOp(left=base, op=ast.Pow(), right=exponent):
            return _raise(_read(base, variables), _read_exponent(exponent))
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
            return _join(_OPERATORS[type(operator)], _read(left, variables), _read(right, variables))
        case ast.Call(func=ast.Name(id=name), args=values, keywords=[]) if name in _FUNCTIONS:
            return _read_call(name, [_read(value, variables) for value in values])
    raise ValueError(f"'{ast.unparse(node)}' cannot be in a formula, only {CONTENTS}")


def _make_constant(value: float) -> _Part:
    if abs(value) > _LARGE:
        raise ValueError("a number is too large")
    return _Part([(CONSTANT, float(value))], float(value), float(value))


def _read_name(name: str, variables: Mapping[str, int]) -> _Part:
    if name in UNITS:
        return _make_constant(UNITS[name])
    if name not in variables:
        raise ValueError(f"'{name}' cannot be in a formula, only {CONTENTS}")
    variable = variables[name]
    return _Part([(variable, 0.0)], *_RANGES.get(variable, (-_LARGE, _LARGE)))


def _read_call(name: str, values: list[_Part]) -> _Part:
    operation = _FUNCTIONS[name]
    if operation in (CEIL, FLOOR, SQRT):
        if len(values) != 1:
            raise ValueError(f"{name} takes one value")
        return _change(operation, values[0])
    if len(values) < 2:
        raise ValueError(f"{name} takes two values or more")
    first, *others = values
    for other in others:
        first = _join(operation, first, other)
    return first


def _read_exponent(node: ast.expr) -> int:
    """Return an exponent in halves."""
    sign = 1
    while isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        sign = -sign if isinstance(node.op, ast.USub) else sign
        node = node.operand
    value = node.value if isinstance(node, ast.Constant) else None
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or value > HIGHEST_POWER
        or value * 2 % 1
    ):
        raise ValueError(
            f"an exponent must be a number in steps of a half, from -{HIGHEST_POWER} to {HIGHEST_POWER},"
            f" not {ast.unparse(node)}"
        )
    return sign * int(value * 2)


def _change(operation: int, part: _Part) -> _Part:
    least, most = part.least, part.most
    if operation == NEGATE:
        least, most = -most, -least
    elif operation == SQRT:
        if least < 0:
            raise ValueError("a weight might not be finite: sqrt of a value that may be below 0")
        least, most = float(np.sqrt(least)), float(np.sqrt(most))
    else:
        rounded = np.ceil if operation == CEIL else np.floor
        least, most = float(rounded(least)), float(rounded(most))
    return _Part([*part.steps, (operation, 0.0)], least, most, part.depth)


def _join(operation: int, left: _Part, right: _Part) -> _Part:
    steps = [*left.steps, *right.steps, (operation, 0.0)]
    pairs = list(product((left.least, left.most), (right.least, right.most)))
    if operation == ADD:
        values = [one + other for one, other in pairs]
    elif operation == SUBTRACT:
        values = [one - other for one, other in pairs]
    elif operation == MULTIPLY:
        values = [one * other for one, other in pairs]
    elif operation == DIVIDE:
        if right.least <= 0 <= right.most:
            raise ValueError("a weight might not be finite: a divisor may be 0; max(..., 1) keeps it above 0")
        values = [one / other for one, other in pairs]
    elif operation == LEAST:
        values = [min(left.least, right.least), min(left.most, right.most)]
    else:
        values = [max(left.least, right.least), max(left.most, right.most)]
    part = _Part(steps, min(values), max(values), max(left.depth, 1 + right.depth))
    return _check_range(part)


def _raise(part: _Part, halves: int) -> _Part:
    if halves % 2 and part.least < 0:
        raise ValueError("a weight might not be finite: a root of a value that may be below 0")
    if halves < 0 and part.least <= 0 <= part.most:
        raise ValueError("a weight might not be finite: 0 to a power below 0; max(..., 1) keeps it above 0")
    factors = [(part.least, part.most)] * (abs(halves) // 2)
    if halves % 2:
        factors.append((float(np.sqrt(part.least)), float(np.sqrt(part.most))))
    least = most = 1.0
    for factor in factors:
        values = [one * other for one, other in product((least, most), factor)]
        least, most = min(values), max(values)
    raised = _check_range(_Part([*part.steps, (POWER, float(halves))], least, most, part.depth))
    if halves < 0:
        if raised.least <= 0 <= raised.most:
            raise ValueError("a weight might not be finite: a divisor may be too small")
        raised.least, raised.most = 1 / raised.most, 1 / raised.least
    return _check_range(raised)


def _check_range(part: _Part) -> _Part:
    if not (-_LARGE <= part.least <= part.most <= _LARGE):
        raise ValueError("a weight might not be finite: a value may be too large")
    return part
