"""Which views of `mart` the lines of a log feed, before they are loaded; then `mart.coverage` tells."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from schema.mart import read_mart

# Where a log tells what views need (`LOG_FACTS` of `schema.mart_metadata`): a table of facts, and the column
# of the record that must have values in it. Of which kind name-space events are, columns do not tell.
_ANY_TABLE = ("*", None)
SIGNS: dict[str, tuple[tuple[str, str | None], ...]] = {
    "lines": (_ANY_TABLE,),
    "events": (_ANY_TABLE,),
    "activity": (("transfers", None),),
    "transfers": (("transfers", None),),
    "sizes": (("transfers", "size_bytes"),),
    "durations": (("transfers", "duration_s"),),
    "users": (("transfers", "user"), ("unitree_jobs", "user")),
    "clients": (("transfers", "host"),),
    "paths": tuple((table, "archive_path") for table in ("transfers", "opens", "namespace_events")),
    "open_times": (("transfers", "open_s"), ("opens", "open_s")),
    "classes_of_service": (("transfers", "class_of_service"),),
    "accounts": (("transfers", "account"),),
    "opens": (("opens", None),),
    "deletes": (("namespace_events", None),),
    "renames": (("namespace_events", "new_archive_path"),),
    "copies": (("namespace_events", None),),
    "jobs": (("unitree_jobs", None),),
    "stages": (("stages", None),),
    "migrations": (("migrations", None),),
    "starts": (("transfer_starts", None),),
    "hits": (("transfer_starts", "is_cached"), ("opens", "is_cached")),
    "tape_events": (("tape_events", None),),
    "srb_sessions": (("srb_sessions", None),),
    "daily_reports": (("daily_reports", None),),
}


@dataclass(frozen=True)
class Feed:
    """What a view or function of `mart` gets of a log; `why` says what the log lacks for it."""

    view: str
    state: Literal["fed", "partly", "not"]
    why: str | None = None


def judge_views(found: Mapping[str, set[str]]) -> list[Feed]:
    """What each view gets of a log, in the order of their names, by the `needs` of its `metadata.yaml`.

    `found` are the columns that facts of the log have values in, by table. What no log feeds is left out.
    """
    held = {
        fact
        for fact, signs in SIGNS.items()
        if any(
            (table in found or (table == "*" and found)) and (column is None or column in found[table])
            for table, column in signs
        )
    }
    feeds = []
    for each in sorted(read_mart(), key=lambda each: each.name):
        lacking = [need for need in each.metadata.needs if held.isdisjoint(need.split(" or "))]
        extents = {each.metadata.needs[need] for need in lacking}
        if each.metadata.needs:
            # What is needed for all comes first, as in mart.coverage.
            lacking.sort(key=lambda need: (each.metadata.needs[need], need))
            why = f"not in this log: {', '.join(lacking).replace('_', ' ')}" if lacking else None
            feeds.append(Feed(each.name, "not" if "all" in extents else "partly" if extents else "fed", why))
    return feeds
