"""The archives of a site and their sources of logs, as `tapewise.toml` describes them.

    [[archives]]
    name = "llnl"
    timezone = "America/Los_Angeles"      # of the archive, and of its logs unless a source says otherwise
    kind = "measured"                     # or "synthetic"

    [[archives.sources]]
    name = "nft"                          # default: the format's name
    format = "nft"                        # or the path of a site's own layout, "layouts/site.toml"
    paths = ["/var/log/nft/*.log*"]       # globs; relative ones are resolved against this file's folder
    timezone = "UTC"
    counted = true                        # false: another source reports the same transfers
    complete = false                      # true: a last line without a newline is read too
    strip = "[^ ]+ [^ ]+ hsi: "           # what another program writes before each line, a regular expression
    date_from = "mtime"                   # where days come from that lines lack (or days.csv, or a pattern);
                                          # default: the file's name
    pseudonymise = false                  # true: names become pseudonyms, which needs a key
    silent_after_hours = 26               # after this time `tapewise doctor` calls the source silent

This module checks only what the file alone shows; `ingest` checks formats and zones.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool, model_validator

DAY_AND_A_LITTLE_H = 26
CENTURY_H = 876_600


def check_names(what: str, names: Iterable[str]) -> None:
    """Raise ValueError if two of `what` have the same name."""
    for name, count in Counter(names).items():
        if count > 1:
            raise ValueError(f"{count} {what} are called '{name}'")


def _check_name(name: str) -> str:
    if not name.strip() or not name.isprintable():
        raise ValueError("a name is printable text")
    return name


_Name = Annotated[str, AfterValidator(_check_name)]


class SourceSettings(BaseModel):
    """One stream of logs of an archive, as in `tapewise.toml`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: str
    name: _Name = ""
    paths: Annotated[tuple[str, ...], Field(min_length=1)]
    timezone: str | None = None
    counted: StrictBool = True
    shared: StrictBool = False
    complete: StrictBool = False
    date_from: str = "name"
    strip: str | None = None
    pseudonymise: StrictBool = False
    silent_after_hours: Annotated[float, Field(strict=True, gt=0, le=CENTURY_H)] = DAY_AND_A_LITTLE_H

    @model_validator(mode="before")
    @classmethod
    def _name_after_format(cls, values: object) -> object:
        if isinstance(values, dict) and "format" in values:
            # A layout's file is named after its format.
            name = str(values["format"]).rpartition("/")[2].removesuffix(".toml")
            return {"name": name} | values
        return values


class ArchiveSettings(BaseModel):
    """One archive, as in `tapewise.toml`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: _Name
    timezone: str
    kind: Literal["measured", "synthetic"] = "measured"
    sources: Annotated[tuple[SourceSettings, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _check_sources(self) -> Self:
        check_names("sources", [source.name for source in self.sources])
        return self
