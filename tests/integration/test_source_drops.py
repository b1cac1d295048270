"""Dropping a source leaves everything as if it had never been read."""

import threading
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.records.format import BEFORE_RETENTION
from tapewise.ingest.sources.archives import drop_archive
from tapewise.ingest.sources.sources import SourceRequest
from tapewise.ingest.upkeep.retention import forget_detail
from tapewise.ingest.upkeep.source_drops import drop_source, list_sources
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import LookupFailedError, RetentionError, SourceError
from tests.conftest import NOW, register
from tests.integration.evidence import check_warehouse, read_balance, read_facts
from tests.integration.test_exactly_once import DAY, SOME_FORMATS, log_line, make_lines, write
from tests.integration.test_requests import dump, make_world
from tests.integration.test_retention import count, read, read_cells, source_of, start, wait_for_lock

pytestmark = pytest.mark.study("ingest", "schema")


def make_others(format_name: str, shift_s: int) -> list[bytes]:
    """Lines for another host's log, each `shift_s` after one of `make_lines`."""
    return [log_line(format_name, index, 420 * index + shift_s) for index in range(30)]


def read_names(connection: psycopg.Connection, archive: str) -> list[tuple[Any, ...]]:
    return connection.execute(
        "SELECT 'user', users.name FROM core.users JOIN core.archives ON archives.id = archive_id"
        " WHERE archives.name = %(a)s UNION ALL SELECT 'host', hosts.name FROM core.hosts"
        " JOIN core.archives ON archives.id = archive_id WHERE archives.name = %(a)s ORDER BY 1, 2",
        {"a": archive},
    ).fetchall()


def read_ledger(warehouse: Warehouse, connection: psycopg.Connection, archive: str) -> list[tuple[Any, ...]]:
    paths = {
        row[0]
        for row in connection.execute(
            "SELECT path || sources.name FROM ledger.log_files JOIN ledger.sources ON sources.id = source_id"
            " JOIN core.archives ON archives.id = archive_id WHERE archives.name = %s",
            [archive],
        )
    }
    return sorted(paths)


@pytest.mark.parametrize(
    ("dropped", "zone"),
    [
        *[(dropped, "UTC") for dropped in ("cond", "nft stat")],
        *[(dropped, "Asia/Kathmandu") for dropped in ("stat", "pftp cond", "nft")],
    ],
)
def test_the_rest_is_as_if_only_the_others_had_been_read(
    warehouse: Warehouse, database: psycopg.Connection, tmp_path: Path, dropped: str, zone: str
) -> None:
    files = make_world(40, tmp_path)

    def read_all(archive: str, names: set[str]) -> None:
        with closing(warehouse.connect(Role.OWNER)) as connection, connection.transaction():
            # The archive has this zone, whichever source comes first.
            connection.execute(
                "INSERT INTO core.archives (name, kind, timezone) VALUES (%s, 'synthetic', %s)",
                [archive, zone],
            )
        for path, format_name in files:
            if format_name in names:
                request = SourceRequest(
                    archive,
                    "synthetic",
                    find_format(format_name),
                    "UTC",
                    format_name,
                    format_name != "stat",
                    zone,
                )
                load_file(warehouse, register(warehouse, request), path, now=NOW)

    everything = {format_name for _, format_name in files}
    read_all("all", everything)
    read_all("rest", everything - set(dropped.split()))
    fact_count = sum(drop_source(warehouse, "all", name).fact_count for name in dropped.split())
    assert fact_count > 0
    assert read_cells(database, "all") == read_cells(database, "rest")
    assert dump(database, "all") == dump(database, "rest")
    assert read_names(database, "all") == read_names(database, "rest")
    assert read_ledger(warehouse, database, "all") == read_ledger(warehouse, database, "rest") != []
    for rows in read_facts(warehouse).values():
        by_archive = {
            name: sorted(map(repr, (row[1:] for row in rows.elements() if row[0] == name)))
            for name in ("all", "rest")
        }
        assert by_archive["all"] == by_archive["rest"]
    check_warehouse(warehouse)
    for name in dropped.split():
        with pytest.raises(LookupFailedError, match=f"no source '{name}'"):
            drop_source(warehouse, "all", name)


@SOME_FORMATS
def test_a_source_read_with_the_wrong_zone_can_be_undone(
    warehouse: Warehouse, tmp_path: Path, format_name: str
) -> None:
    """The result is the same as if it had been read correctly the first time."""
    log = write(tmp_path / "log", make_lines(format_name))
    other = write(tmp_path / "other", make_others(format_name, 1))
    outcomes = []
    for archive, zones in (("right", ["UTC"]), ("undone", ["America/Los_Angeles", "UTC"])):
        read(warehouse, source_of(warehouse, format_name, archive=archive, name="other"), other)
        for zone in zones:
            if zone == "UTC" and len(zones) > 1:
                drop_source(warehouse, archive, format_name)
            source = source_of(warehouse, format_name, archive=archive, zone=zone)
            assert read(warehouse, source, log).tally.loaded_count > 0
        check_warehouse(warehouse)
        found = read_facts(warehouse)
        outcomes.append(
            {
                name: sorted(repr(row[1:]) for row in rows.elements() if row[0] == archive)
                for name, rows in found.items()
            }
        )
    assert outcomes[0] == outcomes[1]
    assert [(each.archive, each.source, each.line_count) for each in list_sources_of(warehouse)] == [
        (archive, *each)
        for archive in ("right", "undone")
        for each in sorted([(format_name, 69), ("other", 30)])
    ]


def list_sources_of(warehouse: Warehouse) -> Any:
    with closing(warehouse.connect(Role.LOADER)) as connection:
        return list_sources(connection)


def test_cells_are_subtracted_up_to_the_ends_of_months_and_days(warehouse: Warehouse, tmp_path: Path) -> None:
    days = ("97/09/30", "97/10/01", "97/10/31", "97/11/01", "98/02/28", "99/12/31")
    clocks = ("00:00:00", "12:00:00", "23:59:59")
    for user, name in enumerate(("one", "two")):
        log = tmp_path / name
        log.write_text("".join(f"{user} {day} {clock} js 7 1.5\n" for day in days for clock in clocks))
        read(warehouse, source_of(warehouse, "nft", name=name), log)
    drop_source(warehouse, "test", "one")
    assert read_facts(warehouse)["activity_cells"].total() == 18
    check_warehouse(warehouse)


def test_the_archives_zone_may_change_when_its_only_source_is_dropped(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    log = write(tmp_path / "log", make_lines("nft"))
    read(warehouse, source_of(warehouse, "nft", zone="Asia/Kathmandu"), log)
    drop_source(warehouse, "test", "nft")
    assert read_facts(warehouse)["activity_cells"].total() == 0
    source = source_of(warehouse, "nft")
    assert source.archive_timezone == "UTC"
    read(warehouse, source, log)
    check_warehouse(warehouse)


def test_cells_of_a_forgotten_time_stay_if_they_may_belong_to_another_source(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    for number, (name, is_counted) in enumerate((("one", True), ("two", True), ("twin", False))):
        log = write(tmp_path / name, make_others("nft", number))
        read(warehouse, source_of(warehouse, "nft", name=name, is_counted=is_counted), log)
    forget_detail(warehouse, "test", DAY + timedelta(days=1), NOW)
    old = (
        "SELECT count(*) FROM core.activity_cells WHERE cell_at < (SELECT retained_since FROM core.archives)"
    )
    cell_count = count(warehouse, old)
    by_source = (
        "SELECT array_agg(DISTINCT sources.name::text ORDER BY sources.name::text)"
        " FROM core.day_cells JOIN core.routes ON routes.id = route_id"
        " JOIN ledger.sources ON sources.id = source_id"
        " WHERE day < (SELECT retained_since FROM core.archives)::date"
    )
    assert count(warehouse, by_source) == ["one", "two"]
    for name, is_left in (("twin", False), ("one", True)):
        assert drop_source(warehouse, "test", name).has_left_cells == is_left
        assert count(warehouse, old) == cell_count
        check_warehouse(warehouse)
    # Cells of days have their source, so only its own are gone.
    assert count(warehouse, by_source) == ["two"]
    assert not drop_source(warehouse, "test", "two").has_left_cells
    assert count(warehouse, "SELECT count(*) FROM core.activity_cells") == 0
    assert count(warehouse, "SELECT count(*) FROM core.day_cells") == 0
    again = read(warehouse, source_of(warehouse, "nft", name="one"), tmp_path / "one")
    assert again.tally.ignored[BEFORE_RETENTION] > 0
    check_warehouse(warehouse)


def test_a_simulated_archive_keeps_its_source(warehouse: Warehouse) -> None:
    with closing(warehouse.connect(Role.OWNER)) as connection, connection.transaction():
        connection.execute(
            "INSERT INTO core.archives (name, kind, timezone) VALUES ('what_if', 'simulated', 'UTC')"
        )
    with pytest.raises(RetentionError, match="archives drop what_if"):
        try:
            drop_source(warehouse, "what_if", "simulation")
        except RetentionError as error:
            raise RetentionError(str(error.hint)) from error
    with pytest.raises(LookupFailedError):
        drop_source(warehouse, "nothing", "simulation")


def test_a_failed_drop_changes_nothing(
    warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read(warehouse, source_of(warehouse, "nft"), write(tmp_path / "log", make_lines("nft")))
    before = (read_facts(warehouse), read_balance(warehouse))

    def fail(*_: Any) -> int:
        raise RuntimeError("the power fails")

    monkeypatch.setattr("tapewise.ingest.upkeep.source_drops.drop_unused_names", fail)
    with pytest.raises(RuntimeError, match="power"):
        drop_source(warehouse, "test", "nft")
    assert (read_facts(warehouse), read_balance(warehouse)) == before


def test_a_load_that_waits_while_its_source_is_dropped_loads_nothing(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    log = write(tmp_path / "log", make_lines("nft"))
    source = source_of(warehouse, "nft")
    read(warehouse, source, log)
    errors: list[BaseException] = []

    def load() -> None:
        try:
            read(warehouse, source, write(tmp_path / "more", make_lines("nft", 70)))
        except SourceError as error:
            errors.append(error)

    loads: list[threading.Thread] = []
    with closing(warehouse.connect(Role.OWNER, autocommit=True)) as watcher:

        def wait(*_: Any) -> int:
            loads.append(start(load))
            wait_for_lock(watcher)
            return 0

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("tapewise.ingest.upkeep.source_drops.drop_unused_names", wait)
            drop_source(warehouse, "test", "nft")
    loads[0].join(timeout=60)
    assert ["changed in the meantime" in str(error) for error in errors] == [True]
    assert read_facts(warehouse)["transfers"].total() == 0
    check_warehouse(warehouse)


def test_known_segments_are_removed_with_the_source_and_with_the_archive(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    for number, name in enumerate(("one", "two", "three")):
        source = source_of(warehouse, "nft", name=name)
        read(warehouse, source, write(tmp_path / name, make_others("nft", number)))
    assert count(warehouse, "SELECT count(*) FROM ledger.segments") == 3
    drop_source(warehouse, "test", "one")
    assert count(warehouse, "SELECT count(*) FROM ledger.segments") == 2
    with closing(warehouse.connect(Role.OWNER)) as connection, connection.transaction():
        drop_archive(connection, "test")
    assert count(warehouse, "SELECT count(*) FROM ledger.segments") == 0
