"""Mechanical mutants: each breaks, in an object's syntax tree, a rule of a kind that any SQL can have.

    left out: <term>              a term of a WHERE (also of a FILTER), a HAVING or the ON of a join
    boundary: <comparison>        < instead of <=, and so on
    not asked for: <coalesce>     a COALESCE of an argument and its default, reduced to the default
    not passed on: <argument>     left out of a call to another function that takes the same argument
    INNER JOIN: <join>            instead of LEFT JOIN
    not distinct: <query>         without DISTINCT; also for an aggregate of distinct values
    without the key <key>         left out of a window's PARTITION BY
    not negated: <condition>      without its NOT

Mutants that need knowledge of the archive are written by hand (`mutants.py`). Mutants that no case can
notice, because they always give the same rows, are listed in `tests/sql/<object>/equivalent.yaml`. The list
also contains mutants that differ only by chance and mutants that another test notices:

    - because: a null is never among the ids searched for
      changes:
        - "left out: requests.stage_id IS NOT NULL"

Some changes are not derived, because someone must judge which of them matter: LEFT JOIN for INNER JOIN
(foreign keys make them equivalent nearly everywhere), UNION for UNION ALL, and other defaults, orders and
aggregates.
"""

import functools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import sqlglot
import yaml
from sqlglot import exp

from tapewise.schema.tables.mart import MartObject
from tests.sql.cases import CASES_FOLDER

_FUNCTION = re.compile(r"(.*\$function\$\n)(.*)(\$function\$;?\s*)", re.DOTALL)
_VIEW = re.compile(r"(.*?CREATE VIEW mart\.\w+ AS\n)(.*?)(;?\s*)", re.DOTALL)

_NEIGHBOURS: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.LTE,
    exp.LTE: exp.LT,
    exp.GT: exp.GTE,
    exp.GTE: exp.GT,
}

# The description of the change, the node to replace, and its replacement.
_Change = tuple[str, exp.Expr, exp.Expr]


@dataclass(frozen=True)
class DerivedMutant:
    """A node of an object's tree, and its replacement."""

    object_name: str
    change: str
    old: exp.Expr
    new: exp.Expr

    def mutate(self, objects: Sequence[MartObject]) -> list[MartObject]:
        """Return `objects` with the one node replaced."""
        return [
            replace(each, text=self._write(each.text)) if each.name == self.object_name else each
            for each in objects
        ]

    def _write(self, text: str) -> str:
        tree = parse(text)
        self.old.replace(self.new)
        try:
            return write(text, tree)
        finally:
            self.new.replace(self.old)


def derive_mutants(each: MartObject) -> list[DerivedMutant]:
    """Return all mutants of an object, equivalent ones included; equal descriptions are numbered."""
    found = []
    counts: Counter[str] = Counter()
    for node in parse(each.text).walk():
        for change, old, new in _change(each.name, node):
            counts[change] += 1
            number = f" ({counts[change]})" if counts[change] > 1 else ""
            found.append(DerivedMutant(each.name, change + number, old, new))
    return found


def read_equivalent(name: str) -> set[str]:
    """Return the changes that make no difference to the object of that name."""
    path = CASES_FOLDER / name / "equivalent.yaml"
    entries = yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader) if path.exists() else []
    return {change for entry in entries for change in entry["changes"]}


@functools.cache
def parse(text: str) -> exp.Expr:
    """Parse the query in the text of an object."""
    return sqlglot.parse_one(_split(text)[1], dialect="postgres")


def write(text: str, tree: exp.Expr) -> str:
    """Return the text of an object with `tree` as its query."""
    before, _, after = _split(text)
    return f"{before}{tree.sql(dialect='postgres', comments=False)}\n{after}"


def _split(text: str) -> tuple[str, str, str]:
    found = _FUNCTION.fullmatch(text) or _VIEW.fullmatch(text)
    assert found is not None, text
    return found[1], found[2], found[3]


def _change(name: str, node: exp.Expr) -> Iterator[_Change]:
    match node:
        case exp.Where() | exp.Having():
            yield from _leave_out_terms(node.this)
        case exp.Join() if node.args.get("on") is not None:
            if node.side != "FULL":  # PostgreSQL supports FULL only with an equality
                yield from _leave_out_terms(node.args["on"])
            if node.side == "LEFT":
                yield f"INNER JOIN: {_say(node)}", node, _with(node, side=None, kind="INNER")
        case exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
            new = _NEIGHBOURS[type(node)](this=node.this.copy(), expression=node.expression.copy())
            yield f"boundary: {_say(node)}", node, new
        case exp.Coalesce():
            last = node.expressions[-1]
            if isinstance(last, exp.Cast) and "infinity" in last.name:
                yield f"not asked for: {_say(node)}", node, last.copy()
        case exp.Kwarg(expression=exp.Column() as argument) if argument.table == name:
            call = node.parent
            if call is None or not isinstance(call.parent, exp.Table):  # one of PostgreSQL's functions
                return
            passed = [each.copy() for each in call.expressions if each is not node]
            yield f"not passed on: {node.this.name} to {call.name}", call, _with(call, expressions=passed)
        case exp.Select() if node.args.get("distinct") and not node.args["distinct"].args.get("on"):
            yield f"not distinct: {_say(node)}", node, _with(node, distinct=None)
        case exp.Distinct() if not isinstance(node.parent, exp.Select) and len(node.expressions) == 1:
            yield f"not distinct: {_say(node.parent)}", node, node.expressions[0].copy()
        case exp.Not():
            yield f"not negated: {_say(node)}", node, exp.Paren(this=node.this.copy())
        case exp.Window():
            keys = node.args.get("partition_by") or []
            for number, key in enumerate(keys):
                others = [other.copy() for other in keys[:number] + keys[number + 1 :]]
                yield f"without the key {_say(key)}: {_say(node)}", node, _with(node, partition_by=others)
        case _:
            pass


def _leave_out_terms(condition: exp.Expr) -> Iterator[_Change]:
    match condition:
        case exp.And():
            yield from _leave_out_terms(condition.this)
            yield from _leave_out_terms(condition.expression)
        case exp.Paren(this=exp.And()):
            yield from _leave_out_terms(condition.this)
        case exp.Boolean():
            pass
        case _:
            yield f"left out: {_say(condition)}", condition, exp.true()


def _with(node: exp.Expr, **values: object) -> exp.Expr:
    new = node.copy()
    for name, value in values.items():
        new.set(name, value)
    return new


def _say(node: exp.Expr | None) -> str:
    assert node is not None
    text = node.sql(dialect="postgres", comments=False)
    return text if len(text) <= 150 else f"{text[:150]}..."
