"""A report as an object for programs."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from tapewise.report.section import Answer, find


def answers_to_object(answers: Sequence[Answer], reasons: Mapping[str, str]) -> dict[str, Any]:
    """Return what was found, why sections are empty, and the rows of each section under its name."""
    findings = [{"section": name, **vars(finding)} for name, finding in find(answers).items()]
    return {"findings": findings, "left_out": dict(reasons)} | {
        answer.section.name: [
            {column: _plain(value) for column, value in zip(answer.columns, row, strict=True)}
            for row in answer.rows
        ]
        for answer in answers
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value
