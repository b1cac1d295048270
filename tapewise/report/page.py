"""What a page of a report shows, however it is drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tapewise.report.section import Answer


@dataclass(frozen=True)
class Table:
    """A table of texts. `are_numbers` says which columns are aligned to the right."""

    heading: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    are_numbers: Sequence[bool]


@dataclass(frozen=True)
class Page:
    """What a page shows besides its sections.

    `subject` is what the report is about, and `kind` what sort of data it is, in words. `warning` is not
    empty if the data are made up. `tables` come before the sections of `about`. `reasons` says why sections
    without rows have none, by their names; a section without rows or a reason is not mentioned.
    """

    subject: str
    kind: str
    warning: str
    period: str
    doubts: Sequence[str]
    tables: Sequence[Table]
    about: Sequence[Answer]
    answers: Sequence[Answer]
    absent: str
    reasons: Mapping[str, str]
