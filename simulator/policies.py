"""Rules by which a disk chooses the files to drop, as users name them."""

from typing import Any, Literal, get_args

import click

Policy = Literal["lru", "fifo", "size_age", "gdsf", "belady"]
POLICIES: tuple[Policy, ...] = get_args(Policy)


class TypedPolicies(click.ParamType[tuple[Policy, ...]]):
    """Names of rules, separated by commas."""

    name = "policies"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[Policy, ...]:
        """Parse the names; anything else is wrong usage."""
        if isinstance(value, tuple):
            return value
        names = [each.strip() for each in value.split(",")]
        for name in names:
            if name not in POLICIES:
                self.fail(f"'{name}' is not one of {', '.join(POLICIES)}", param, ctx)
            if names.count(name) > 1:
                self.fail(f"'{name}' is listed twice", param, ctx)
        return tuple(policy for name in names for policy in POLICIES if policy == name)
