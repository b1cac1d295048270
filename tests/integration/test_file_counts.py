"""Files counted in advance: the same as followed again, in any order of loads, and right after removals."""

import random
from collections import Counter
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
import pytest

from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.sources.archives import drop_archive
from tapewise.ingest.upkeep.retention import forget_detail
from tapewise.ingest.upkeep.source_drops import drop_source
from tapewise.ingest.upkeep.source_replacements import replace_source
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import LookupFailedError
from tapewise.schema.writing.file_counts import FileCounts, recount_files, refresh_files
from tests.conftest import NOW
from tests.integration.test_retention import source_of
from tests.sql.cases import insert_rows, run_query

pytestmark = pytest.mark.study("ingest", "schema", "sql")

GROWTH = "SELECT * FROM mart.net_growth({}) ORDER BY archive, starts_on"
AGES = "SELECT * FROM mart.access_ages({}) ORDER BY archive, age_s"
OF_RECOUNT = {"newer_event_count", "computed_at"}
BEGIN = datetime(2000, 1, 10, tzinfo=UTC)


def ask(connection: psycopg.Connection, query: str, arguments: str = "") -> list[dict[str, Any]]:
    """Return the answer without the columns that say how it was found."""
    rows = run_query(connection, query.format(arguments))
    return [{name: value for name, value in row.items() if name not in OF_RECOUNT} for row in rows]


def is_from_recount(connection: psycopg.Connection, archive: str = "test") -> bool:
    rows = run_query(connection, GROWTH.format(f"archive => '{archive}'"))
    assert rows
    found = {row["computed_at"] is not None for row in rows}
    assert len(found) == 1
    return found.pop()


def make_events(seed: int) -> dict[str, list[dict[str, Any]]]:
    """Events of few names, so that files are replaced, renamed over each other, copied and deleted."""
    draw = random.Random(seed)

    def place(number: int) -> dict[str, Any]:
        return {
            "id": number,
            "source": draw.choice(["a", "b"]),
            "interface": draw.choice(["nft", "hsi"]),
            "class_of_service": draw.choice([None, "0", "x", "y"]),
            "file_key": draw.choice([None, *[1 - 2**63, -7, 1, 2, 3, 4, 5, 6, 2**63 - 1]]),
            "size_bytes": draw.choice([None, 0, 10 ** draw.randrange(12), 2**62]),
            "is_failed": draw.random() < 0.05,
        }

    def at() -> str:
        return (BEGIN + timedelta(seconds=draw.randrange(5 * 86_400))).isoformat()

    transfers = [
        place(number)
        | {
            "direction": draw.choice(["put", "get"]),
            "ended_at": at(),
            "is_size_saturated": draw.random() < 0.1,
        }
        for number in range(1, 120)
    ]
    others = []
    for number in range(201, 240):
        kind = draw.choice(["delete", "rename", "copy"])
        other = {"kind": kind, "new_file_key": draw.choice([None, -7, 1, 2, 5, 11, 12]), "happened_at": at()}
        others.append(place(number) | other | ({"new_file_key": None} if kind == "delete" else {}))
    return {
        "archives": [{"name": "test", "timezone": "America/Los_Angeles"}, {"name": "other"}],
        "sources": [{"archive": "test", "name": "a"}, {"archive": "test", "name": "b"}],
        "transfers": transfers,
        "namespace_events": others,
    }


def follow_by_name(given: dict[str, list[dict[str, Any]]]) -> Counter[tuple[str, str | None, date]]:
    """Count what happened, by class of service and local day, in plain Python.

    Each name that refers to a file has the file's class, and whether its put is in the log.
    """
    counts: Counter[tuple[str, str | None, date]] = Counter()
    files: dict[int, tuple[str | None, bool]] = {}
    events = [
        (each.get("ended_at") or each["happened_at"], each["id"], each)
        for each in [*given["transfers"], *given["namespace_events"]]
        if not each["is_failed"]
    ]
    for at, _, event in sorted(events):
        day = datetime.fromisoformat(at).astimezone(ZoneInfo("America/Los_Angeles")).date()
        kind, key = event.get("kind") or event["direction"], event["file_key"]
        named = event["class_of_service"]
        if kind == "delete" and named == "0":
            named = None
        if key is None:
            if kind in ("put", "copy", "delete"):
                counts[kind, named, day] += 1
            continue
        target = key if kind == "put" else event.get("new_file_key")
        if kind in ("rename", "copy") and target in (None, key):
            continue
        if target in files:
            counts["overwrite", files.pop(target)[0], day] += 1
        if kind in ("put", "copy"):
            files[target] = (named, True)
            counts[kind, named, day] += 1
            continue
        known, is_put_known = files.pop(key, (None, False))
        if known is None and not is_put_known and kind != "rename":
            known = named
        if kind == "delete":
            counts[kind, known, day] += 1
        else:
            files[target if kind == "rename" else key] = (known, is_put_known)
    return counts


def count_by_class(connection: psycopg.Connection) -> Counter[tuple[str, str | None, date]]:
    kinds = {"put": "put", "copy": "copy", "deleted": "delete", "overwritten": "overwrite"}
    counts: Counter[tuple[str, str | None, date]] = Counter()
    for row in run_query(connection, "SELECT * FROM mart.selected_file_days(archive => 'test')"):
        for column, kind in kinds.items():
            counts[kind, row["class_of_service"], row["starts_on"]] += row[f"{column}_count"]
    return +counts


@pytest.mark.study("schema", "sql")
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("slice_events", [10, 10**6])
def test_a_recount_equals_following_the_files(
    database: psycopg.Connection, seed: int, slice_events: int
) -> None:
    given = make_events(seed)
    insert_rows(database, given)
    by_class = follow_by_name(given)
    assert count_by_class(database) == by_class
    scopes = (
        *("", "interface => 'hsi'", "class_of_service => 'x'", "direction => 'get'", "direction => 'put'"),
        *("class_of_service => '0'", "since => '2000-01-11 12:00Z'", "archive => 'other'"),
    )
    fresh = [ask(database, query, scope) for query in (GROWTH, AGES) for scope in scopes]
    shown: list[tuple[int, int]] = []
    counts = recount_files(
        database,
        database,
        "test",
        NOW,
        slice_events=slice_events,
        on_slice=lambda part, count: shown.append((part, count)),
    )
    assert counts is not None
    assert shown == [(number, counts.slice_count) for number in range(1, counts.slice_count + 1)]
    assert (counts.slice_count > 10) == (slice_events == 10)
    assert recount_files(database, database, "test", NOW) is None
    assert is_from_recount(database)
    assert count_by_class(database) == by_class
    assert [ask(database, query, scope) for query in (GROWTH, AGES) for scope in scopes] == fresh
    both = ", is_fresh => true"
    assert [
        ask(database, query, (scope + both).lstrip(", ")) for query in (GROWTH, AGES) for scope in scopes
    ] == fresh


def write_logs(folder: Path) -> list[Path]:
    """Logs of three days: each day puts a file again, reads one of the day before, and deletes another."""
    lines = "Tue Mar {:2} 0{}:00:00 2019 1 n7.example.org {} /{} b _ {} r kim ftp 0 * c\n"
    paths = []
    for day in (5, 6, 7):
        events = [
            (day, 1, 1000 * day, "same", "i"),
            (day, 2, 10 * day, f"of {day}", "i"),
            (day, 3, 10 * day, f"of {day}", "o"),
            (day, 4, 10 * (day - 1), f"of {day - 1}", "o"),
            (day, 5, 10 * (day - 1), f"of {day - 1}", "d"),
        ]
        paths.append(folder / f"xferlog.{day}")
        paths[-1].write_text("".join(lines.format(*event) for event in events))
    return paths


def load_all(warehouse: Warehouse, paths: list[Path], name: str = "xferlog") -> None:
    source = source_of(warehouse, "xferlog", name=name)
    for path in paths:
        load_file(warehouse, source, path, now=NOW)


def refresh(warehouse: Warehouse) -> FileCounts | None:
    return refresh_files(warehouse, "test", NOW)


def read_days(connection: psycopg.Connection) -> list[dict[str, Any]]:
    return run_query(connection, "SELECT * FROM mart.file_days ORDER BY source, direction, starts_on")


def test_the_order_of_loads_does_not_matter(
    warehouse: Warehouse, database: psycopg.Connection, tmp_path: Path
) -> None:
    paths = write_logs(tmp_path)
    found = []
    for order in ([0, 1, 2], [2, 0, 1]):
        for number in order:
            load_all(warehouse, [paths[number]])
            refresh(warehouse)
        found.append(read_days(database))
        assert is_from_recount(database)
        database.rollback()
        with closing(warehouse.connect(Role.OWNER)) as owner:
            drop_archive(owner, "test")
        assert read_days(database) == []
        database.rollback()
    assert found[0] == found[1]
    assert [row["overwritten_bytes"] for row in found[0] if row["direction"] == "put"] == [0, 5000, 6000]
    assert [row["deleted_bytes"] for row in found[0] if row["direction"] == "put"] == [40, 50, 60]


def test_few_events_are_followed_again_when_more_are_loaded(
    warehouse: Warehouse, database: psycopg.Connection, tmp_path: Path
) -> None:
    paths = write_logs(tmp_path)
    load_all(warehouse, paths[:1])
    assert not is_from_recount(database)
    counts = refresh(warehouse)
    assert counts is not None
    assert counts.event_count == 5
    assert refresh(warehouse) is None
    assert is_from_recount(database)
    load_all(warehouse, paths[1:])
    assert not is_from_recount(database)
    newer = run_query(database, "SELECT newer_event_count, is_used FROM mart.file_recounts")
    assert newer == [{"newer_event_count": 10, "is_used": False}]
    fresh = ask(database, GROWTH)
    assert refresh(warehouse) is not None
    assert is_from_recount(database)
    assert ask(database, GROWTH) == fresh
    with pytest.raises(LookupFailedError):
        refresh_files(warehouse, "nowhere", NOW)


def test_a_source_that_is_dropped_or_replaced_leaves_no_trace(
    warehouse: Warehouse, database: psycopg.Connection, tmp_path: Path
) -> None:
    paths = write_logs(tmp_path)
    load_all(warehouse, paths[:1], "first")
    refresh(warehouse)
    alone = read_days(database)
    load_all(warehouse, paths[1:], "second")
    refresh(warehouse)
    both = read_days(database)
    assert len(both) > len(alone)
    database.rollback()
    drop_source(warehouse, "test", "second")
    assert read_days(database) == []
    assert not is_from_recount(database)
    refresh(warehouse)
    assert read_days(database) == alone

    load_all(warehouse, paths[1:], "second")
    refresh(warehouse)
    assert read_days(database) == both
    database.rollback()
    # By a clock two hours behind, nothing changes its day.
    replace_source(warehouse, "test", "second", log_format=None, timezone="Etc/GMT+2", now=NOW)
    assert not is_from_recount(database)
    assert read_days(database) == []
    refresh(warehouse)
    assert is_from_recount(database)
    assert ask(database, GROWTH) == ask(database, GROWTH, "is_fresh => true")


def test_forgotten_days_stay_as_they_were_counted(
    warehouse: Warehouse, database: psycopg.Connection, tmp_path: Path
) -> None:
    paths = write_logs(tmp_path)
    load_all(warehouse, paths[:2], "first")
    load_all(warehouse, paths[2:], "second")
    before, ages = ask(database, GROWTH), ask(database, AGES, "until => '2019-03-07'")
    database.rollback()
    # Nothing was counted yet: this is done first.
    forget_detail(warehouse, "test", date(2019, 3, 7), NOW)
    assert not is_from_recount(database) or ask(database, GROWTH)[:2] == before[:2]
    after = ask(database, GROWTH)
    assert after[:2] == before[:2]
    # What was put on a forgotten day is not known to have been replaced.
    assert (before[2]["overwritten_bytes"], after[2]["overwritten_bytes"]) == (6000, 0)
    refresh(warehouse)
    assert ask(database, GROWTH) == after
    assert ask(database, GROWTH, "is_fresh => true") == after
    assert ask(database, AGES, "until => '2019-03-07'") == ages
    database.rollback()
    assert refresh(warehouse) is None
    # Forgetting the same days again changes nothing.
    forget_detail(warehouse, "test", date(2019, 3, 7), NOW)
    assert ask(database, GROWTH) == after
    database.rollback()
    drop_source(warehouse, "test", "first")
    assert [row["starts_on"] for row in ask(database, GROWTH)] == [date(2019, 3, 7)]
