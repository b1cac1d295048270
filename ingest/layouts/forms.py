"""How lines that name their values are written, as a layout's file says."""

from typing import Annotated, Self

from pydantic import BaseModel, Field, StrictBool, model_validator


class Pairs(BaseModel, extra="forbid", frozen=True):
    """How the pairs of a line are written: `key=value`, with a text between them, or `key="value"`."""

    between: Annotated[str, Field(min_length=1)] = " "
    is_quoted: StrictBool = False

    @model_validator(mode="after")
    def _check_between(self) -> Self:
        if not self.is_quoted and (len(self.between) != 1 or self.between == "="):
            raise ValueError("between is one sign, and not =, unless is_quoted is true")
        return self


class Csv(BaseModel, extra="forbid", frozen=True):
    """The columns of a table whose rows are lines, and the sign between cells.

    With `is_quoted`, a cell may be in quotation marks, in which two of them mean one. With `has_more`,
    further cells may follow those of the columns, and are not used.
    """

    columns: Annotated[tuple[str, ...], Field(min_length=2)]
    separator: str = ","
    is_quoted: StrictBool = True
    has_more: StrictBool = False

    @model_validator(mode="after")
    def _check(self) -> Self:
        if len(self.separator.encode()) != 1 or self.separator in '"\r\n':
            raise ValueError("separator is one ASCII sign, and no quotation mark or line end")
        names = [name for name in self.columns if name]
        if doubles := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"{names.count(doubles[0])} of the columns are called {doubles[0]!r}")
        return self
