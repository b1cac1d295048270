"""`metadata.yaml`, which describes the view or function of `mart` whose SQL is next to it."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from tapewise.schema.access.roles import NAMES

_Sentence = Annotated[str, Field(min_length=1)]


# The facts that a view can need from an archive's logs; `mart.archive_facts` shows which ones the logs have.
LOG_FACTS = (
    *("lines", "events", "activity", "transfers", "whole_files", "sizes", "durations"),
    *("users", "users_of_transfers", "user_names", "clients", "paths"),
    *("open_times", "open_times_of_transfers", "classes_of_service", "classes_of_service_of_transfers"),
    *("accounts", "opens", "deletes", "renames", "copies", "jobs"),
    *("stages", "stage_events", "migrations", "starts", "hits", "tape_events", "mount_summaries"),
    *("srb_sessions", "snapshots", "cache_reads", "daily_reports"),
)


class Metadata(BaseModel):
    """`metadata.yaml` of one object. The fields are the keys of the file, and no other keys are allowed.

    An object that returns rows has `one_row_is` and either `columns` or `columns_of`, the name of an object
    with the same columns. A function that returns one value has `returns`. `needs` lists the `LOG_FACTS` that
    the object is built from. Without a fact needed for `all` of the object, it has no rows, or none that
    serve its purpose. Without one needed for `part` of it, some columns or rows are missing. For `a or b`,
    either fact will do. An object that is not built from logs needs nothing: `{}`. `words` are headings of
    docs/reference/definitions.md, which defines what the object counts. `accepts` has the words of each
    argument that takes no others (`direction` always takes put and get). `kept` lists calls of a function
    whose answers `tapewise refresh` keeps: for each call, those arguments that are not as by default, in SQL.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    kind: Literal["view", "function"]
    summary: _Sentence
    one_row_is: _Sentence = ""
    arguments: dict[str, _Sentence] = Field(default_factory=dict)
    accepts: dict[str, Annotated[list[_Sentence], Field(min_length=1)]] = Field(default_factory=dict)
    columns: dict[str, _Sentence] = Field(default_factory=dict)
    columns_of: str = ""
    returns: _Sentence = ""
    needs: dict[str, Literal["all", "part"]]
    depends_on: list[str]
    words: list[_Sentence] = Field(default_factory=list)
    kept: list[dict[str, _Sentence]] = Field(default_factory=list)
    grants: Annotated[list[Literal["tapewise_reader", "tapewise_names"]], Field(min_length=1)]
    source: _Sentence
    example: _Sentence

    @model_validator(mode="after")
    def _has_rows_or_a_value(self) -> Self:
        if self.columns and self.columns_of:
            raise ValueError("has columns or columns_of, not both")
        gives = (bool(self.one_row_is), bool(self.columns or self.columns_of), bool(self.returns))
        if gives != (True, True, False) and (self.kind, gives) != ("function", (False, False, True)):
            raise ValueError(
                "needs one_row_is and columns or columns_of, or, for a function with one value, returns"
            )
        return self

    @model_validator(mode="after")
    def _accepts_words_of_arguments(self) -> Self:
        for name in self.accepts:
            if name not in self.arguments:
                raise ValueError(f"accepts: '{name}' is not an argument")
        return self

    @model_validator(mode="after")
    def _keeps_calls_of_one_archive(self) -> Self:
        if self.kept and (self.kind != "function" or "archive" not in self.arguments):
            raise ValueError("kept is for functions of an archive")
        for name in (name for call in self.kept for name in call):
            if name == "archive" or name not in self.arguments:
                raise ValueError(f"kept: '{name}' is not an argument that a call may give")
        return self

    @field_validator("needs")
    @classmethod
    def _has_known_needs(cls, needs: dict[str, str]) -> dict[str, str]:
        for name in (name for either in needs for name in either.split(" or ")):
            if name not in LOG_FACTS:
                raise ValueError(f"'{name}' is not one of the facts of logs: {', '.join(LOG_FACTS)}")
        return needs

    @property
    def has_names(self) -> bool:
        """Whether the object shows names of people or files, which not every reader may see."""
        return self.grants == [NAMES]

    @property
    def gives(self) -> str:
        """What one row is, or what the function returns."""
        return self.one_row_is or self.returns
