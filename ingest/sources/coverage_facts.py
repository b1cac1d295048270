"""Finds out which views of `mart` a log would feed. Once the log is loaded, `mart.coverage` shows this."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from tapewise.schema.tables.facts import FACT_TABLES
from tapewise.schema.tables.mart import read_mart

# How to recognise the facts that views need (`LOG_FACTS` of `tapewise.schema.tables.mart_metadata`): by a
# fact table and a column of the record that has values there. The columns do not show the kinds of name-space
# events.
_ANY_TABLE = ("*", None)
# Tables from which requests get their users and classes of service.
_REQUEST_TABLES = ("transfers", "unitree_jobs", "opens", "transfer_starts")
SIGNS: dict[str, tuple[tuple[str, str | None], ...]] = {
    "lines": (_ANY_TABLE,),
    "events": tuple((table.name, None) for table in FACT_TABLES if table.name != "daily_reports"),
    "activity": (("transfers", None),),
    "transfers": (("transfers", None),),
    "whole_files": (("transfers", None),),  # unless the format reports parts
    "sizes": (("transfers", "size_bytes"),),
    "durations": (("transfers", "duration_s"),),
    "users": tuple((table, "user") for table in _REQUEST_TABLES),
    "users_of_transfers": (("transfers", "user"),),
    "user_names": (("*", "user"),),
    "clients": (("transfers", "host"),),
    "paths": (("transfers", "archive_path"), ("namespace_events", "archive_path")),
    "open_times": (("transfers", "open_s"), ("opens", "open_s")),
    "open_times_of_transfers": (("transfers", "open_s"),),
    "classes_of_service": tuple((table, "class_of_service") for table in _REQUEST_TABLES),
    "classes_of_service_of_transfers": (("transfers", "class_of_service"),),
    "accounts": (("transfers", "account"),),
    "opens": (("opens", None),),
    "deletes": (("namespace_events", None),),
    "renames": (("namespace_events", "new_archive_path"),),
    "copies": (("namespace_events", None),),
    "jobs": (("unitree_jobs", None),),
    "stages": (("stages", None),),
    "stage_events": (("stage_events", None),),
    "migrations": (("migrations", None),),
    "starts": (("transfer_starts", None),),
    "hits": (("transfer_starts", "is_cached"), ("opens", "is_cached")),
    "tape_events": (("tape_events", None),),
    "mount_summaries": (("mount_summaries", None),),
    "snapshots": (("snapshots", None),),
    "cache_reads": (("cache_reads", None),),
    "srb_sessions": (("srb_sessions", None),),
    "daily_reports": (("daily_reports", None),),
}

# What belongs to events of these kinds. That it is missing goes without saying if there are no such events.
_BELONGINGS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("transfers",): ("activity", "whole_files", "sizes", "durations", "clients", "accounts"),
    ("transfers", "deletes"): ("paths",),
    ("transfers", "opens"): ("open_times",),
    ("transfers", "opens", "jobs", "starts"): ("users", "classes_of_service"),
    ("opens", "starts"): ("hits",),
}


@dataclass(frozen=True)
class Feed:
    """Whether a log feeds a view or function of `mart`. `why` says what the log lacks for it."""

    view: str
    state: Literal["fed", "partly", "not"]
    why: str | None = None


def find_held(found: Mapping[str, set[str]], *, is_of_parts: bool = False) -> set[str]:
    """Which of the keys of SIGNS a log has (the arguments are those of `judge_views`)."""
    held = {
        fact
        for fact, signs in SIGNS.items()
        if any(
            (table in (name, "*")) and (column is None or column in columns)
            for table, column in signs
            for name, columns in found.items()
        )
    }
    return held - {"whole_files"} if is_of_parts else held


def describe_lacking(lacking: Collection[str]) -> list[str]:
    """Name what a log lacks (keys of SIGNS), without what follows from what is named."""
    lacking = set(lacking)
    implied = {
        fact for owners, facts in _BELONGINGS.items() if lacking.issuperset(owners) for fact in facts
    } | {fact for fact in lacking if fact.endswith("_of_transfers") and _is_implied(fact, lacking)}
    return sorted(fact.replace("_", " ") for fact in lacking - implied)


def _is_implied(fact: str, lacking: Collection[str]) -> bool:
    return "transfers" in lacking or fact.removesuffix("_of_transfers") in lacking


def judge_views(found: Mapping[str, set[str]], *, is_of_parts: bool = False) -> list[Feed]:
    """Return, by name, whether a log feeds each view, according to `needs` in the view's `metadata.yaml`.

    `found` contains the columns in which the log's facts have values, by table. `is_of_parts` is the
    attribute of the log's format. Views that need nothing from logs are left out.
    """
    held = find_held(found, is_of_parts=is_of_parts)
    feeds = []
    for each in sorted(read_mart(), key=lambda each: each.name):
        lacking = [need for need in each.metadata.needs if held.isdisjoint(need.split(" or "))]
        extents = {each.metadata.needs[need] for need in lacking}
        if each.metadata.needs:
            # Needs that concern the entire view come first, as in mart.coverage.
            lacking.sort(key=lambda need: (each.metadata.needs[need], need))
            why = f"not in this log: {', '.join(lacking).replace('_', ' ')}" if lacking else None
            feeds.append(Feed(each.name, "not" if "all" in extents else "partly" if extents else "fed", why))
    return feeds
