"""What is said of a view or function of `mart` beside its SQL: its `metadata.yaml`."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

_Sentence = Annotated[str, Field(min_length=1)]


# What a view can need of an archive's logs, as `mart.archive_facts` tells what they have.
LOG_FACTS = (
    *("lines", "events", "activity", "transfers", "whole_files", "sizes", "durations"),
    *("users", "users_of_transfers", "user_names", "clients", "paths"),
    *("open_times", "open_times_of_transfers", "classes_of_service", "classes_of_service_of_transfers"),
    *("accounts", "opens", "deletes", "renames", "copies", "jobs"),
    *("stages", "migrations", "starts", "hits", "tape_events", "srb_sessions", "daily_reports"),
)


class Metadata(BaseModel):
    """`metadata.yaml` of one object; the fields are the keys of the file, and no others are allowed.

    What gives rows says `one_row_is` and `columns`; a function that gives one value says `returns`. `needs`
    says which of `LOG_FACTS` the object is made of: without one that is needed for `all` it has no rows, or
    none that says what the object is for; without one for a `part` some columns or rows are missing. Of
    `a or b` either will do. What logs do not feed needs nothing: `{}`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    kind: Literal["view", "function"]
    summary: _Sentence
    one_row_is: _Sentence = ""
    arguments: dict[str, _Sentence] = Field(default_factory=dict)
    columns: dict[str, _Sentence] = Field(default_factory=dict)
    returns: _Sentence = ""
    needs: dict[str, Literal["all", "part"]]
    depends_on: list[str]
    grants: Annotated[list[Literal["tapewise_reader", "tapewise_names"]], Field(min_length=1)]
    source: _Sentence
    example: _Sentence

    @model_validator(mode="after")
    def _has_rows_or_a_value(self) -> Self:
        gives = (bool(self.one_row_is), bool(self.columns), bool(self.returns))
        if gives != (True, True, False) and (self.kind, gives) != ("function", (False, False, True)):
            raise ValueError("needs one_row_is and columns or, for a function of one value, returns")
        return self

    @field_validator("needs")
    @classmethod
    def _has_known_needs(cls, needs: dict[str, str]) -> dict[str, str]:
        for name in (name for either in needs for name in either.split(" or ")):
            if name not in LOG_FACTS:
                raise ValueError(f"'{name}' is nothing that a log tells: {', '.join(LOG_FACTS)}")
        return needs

    @property
    def gives(self) -> str:
        """What one row is, or what is returned."""
        return self.one_row_is or self.returns
