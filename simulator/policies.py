"""Rules by which a disk chooses the files to drop, as users name them: by a name, or by a formula.

Each name means a formula for the weight of a file (`formulas.py`); the heaviest file is dropped first. The
names of `QUEUES` are no weights, so only `tapewise simulate cache` takes them.
"""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any

import click

from tapewise.simulator.formulas import INTERNAL_VARIABLES, VARIABLES, parse_formula
from tapewise.simulator.kernel.programs import Program

# A name of `POLICIES` or `QUEUES`, or a formula.
Policy = str

FORMULAS: dict[str, str] = {
    "lru": "age",
    "fifo": "-arrival",
    "size_age": "ceil(size / MB) ** 1 * ceil(age / hour) ** 1.5",
    "gdsf": "-worth",
    "belady": "next_use",
}
POLICIES: tuple[Policy, ...] = tuple(FORMULAS)
# `belady` knows the future, so no machine can have it.
RANKS = tuple(name for name in POLICIES if name != "belady")

# Rules that keep files in queues whose order changes with uses. libcachesim replays them, without locks.
QUEUES: tuple[Policy, ...] = ("arc", "s3fifo", "sieve")
# All files come through a small queue of S3-FIFO, which has this share of the disk (libcachesim's default).
_SMALL_QUEUE_SHARE = 0.1


def find_largest_kept(policy: Policy, capacity: int) -> int:
    """Return the bytes of the largest file that a disk of `capacity` bytes may keep; -1 if it keeps none."""
    return int(capacity * _SMALL_QUEUE_SHARE) - 1 if policy == "s3fifo" else capacity


def format_size_age(size_exponent: float, age_exponent: float) -> Policy:
    """Return LLNL's weight with other exponents."""
    formula = f"ceil(size / MB) ** {size_exponent:g} * ceil(age / hour) ** {age_exponent:g}"
    return "size_age" if formula == FORMULAS["size_age"] else formula


def parse_policy(policy: Policy, names: Sequence[str] = tuple(POLICIES)) -> Program:
    """Make the program of a name or formula. Raises ValueError, which lists `names`, if it is neither."""
    if policy in FORMULAS:
        return parse_formula(FORMULAS[policy], VARIABLES | INTERNAL_VARIABLES)
    if policy in QUEUES:
        raise ValueError(
            f"{policy} keeps files in queues and gives them no weight, so only `tapewise simulate cache`"
            f" replays it: use {', '.join(names)}, or a formula"
        )
    if policy.isidentifier() and policy not in VARIABLES:
        close = get_close_matches(policy, [*names, *VARIABLES], n=1)
        meant = f": did you mean '{close[0]}'?" if close else ""
        raise ValueError(
            f"'{policy}' is not one of {', '.join(names)}, and is no formula of size, age and uses{meant}"
        )
    return parse_formula(policy)


class TypedPolicies(click.ParamType[tuple[Policy, ...]]):
    """Names of rules and formulas, separated by commas."""

    name = "policies"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[Policy, ...]:
        """Parse the rules; anything else is wrong usage."""
        if isinstance(value, tuple):
            return value
        policies = [each.strip() for each in split_list(value)]
        for policy in policies:
            try:
                if policy not in QUEUES:
                    parse_policy(policy, (*POLICIES, *QUEUES))
            except ValueError as error:
                self.fail(str(error), param, ctx)
            if policies.count(policy) > 1:
                self.fail(f"'{policy}' is listed twice", param, ctx)
        return tuple(policies)


def split_list(text: str) -> Iterator[str]:
    """Yield what is between commas, except between those of a function's values."""
    depth, begin = 0, 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            yield text[begin:place]
            begin = place + 1
    yield text[begin:]
