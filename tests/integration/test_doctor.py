"""Provokes each problem that `doctor` finds, and checks what `status` shows."""

import os
import re
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
import psycopg
import pytest
from click.testing import CliRunner

from tapewise import checks
from tapewise.checks import Finding, check_rejects, check_run
from tapewise.doctor import doctor, examine, examine_warehouse
from tapewise.ingest.nightly.run import hold_round
from tapewise.ingest.nightly.sources import plan_round
from tapewise.schema.access.roles import COMMANDS
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import RevisionError
from tapewise.schema.settings import Settings, read_settings
from tapewise.source_states import SourceState, find_gaps, read_days, read_states
from tapewise.status import describe_span, status
from tests.conftest import Site
from tests.sql.cases import insert_rows

NOW = datetime(1997, 10, 2, tzinfo=UTC)
NFT = "005041 97/10/01 00:01:41 js 7700 0.425\n001194 97/10/01 02:01:42 sj 13166758 20.415\n"
CONFIG = """
[[archives]]
name = "llnl"
timezone = "UTC"
kind = "synthetic"
  [[archives.sources]]
  format = "nft"
  paths = ["nft*"]
"""


@pytest.fixture
def settings(tmp_path: Path, load: Callable[..., object]) -> Settings:
    (tmp_path / "nft.log").write_text(NFT)
    (tmp_path / "tapewise.toml").write_text(CONFIG)
    load(tmp_path / "nft.log", "nft", archive="llnl")
    return read_settings(config=tmp_path / "tapewise.toml")


def find(
    settings: Settings, warehouse: Warehouse, verdict: str = "wrong", now: datetime = NOW
) -> list[tuple[str, str]]:
    # Leave out the check of disks, which would examine those of the test machine.
    found = examine_warehouse(settings, warehouse, now)
    return [(each.check, each.sentence) for each in found if each.verdict == verdict and each.check != "disk"]


def states(database: psycopg.Connection) -> list[SourceState]:
    return read_states(database)


def test_nothing_is_wrong(settings: Settings, warehouse: Warehouse) -> None:
    assert find(settings, warehouse) == []
    assert [check for check, _ in find(settings, warehouse, "ok")] == [
        "database",
        "sources",
        "rejects",
        "access",
        "ledger",
        "doubles",
        "rollups",
        "plans",
    ]


def test_transfers_that_an_older_program_loaded_are_noticed(
    settings: Settings, warehouse: Warehouse, database: psycopg.Connection
) -> None:
    add_cells = (
        "INSERT INTO core.activity_cells SELECT id, %s::timestamptz, 'nft', 'get', 3, 0, 0, 0, 0"
        " FROM core.archives WHERE name = 'llnl'"
    )
    database.execute(add_cells, ["1990-01-01T00:00:00Z"])
    database.commit()
    [(check, sentence)] = find(settings, warehouse)
    assert check == "rollups" and sentence.startswith("Archive 'llnl' has ")
    # Days that are forgotten may be missing.
    database.execute("UPDATE core.archives SET retained_since = '1990-01-02T00:00:00Z' WHERE name = 'llnl'")
    database.commit()
    assert find(settings, warehouse) == []


def test_silence_is_reported_unless_an_outage_explains_it(
    settings: Settings, warehouse: Warehouse, database: psycopg.Connection
) -> None:
    late = NOW + timedelta(hours=5)
    said = "The last line of source llnl/nft is 26 h 58 min old"
    assert find(settings, warehouse, now=late) == [("sources", f"{said}; the limit is 26 h 0 min.")]
    for started_at, ended_at in ((late + timedelta(hours=1), None), (NOW, late)):  # not begun, already over
        record_outage(database, started_at, ended_at)
        assert len(find(settings, warehouse, now=late)) == 1
    record_outage(database, NOW, None)
    assert find(settings, warehouse, now=late) == []
    assert ("sources", f"{said}: an outage explains it ('moved').") in find(settings, warehouse, "ok", late)


def record_outage(database: psycopg.Connection, started_at: datetime, ended_at: datetime | None) -> None:
    database.execute(
        "INSERT INTO core.outages (archive_id, kind, note, started_at, ended_at)"
        " SELECT id, 'scheduled', 'moved', %s, %s FROM core.archives",
        [started_at, ended_at],
    )
    database.commit()


def test_a_last_line_in_the_future_is_reported(settings: Settings, warehouse: Warehouse) -> None:
    last_at = datetime(1997, 10, 1, 2, 1, 42, tzinfo=UTC)
    assert find(settings, warehouse, now=last_at - timedelta(minutes=59)) == []
    assert find(settings, warehouse, now=last_at - timedelta(minutes=61)) == [
        (
            "sources",
            "The last line of source llnl/nft is 1 h 1 min ahead of now: a clock or a time zone is wrong.",
        )
    ]


@pytest.mark.parametrize("command", [doctor, status])
@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_a_now_beyond_the_calendar_is_refused(command: click.Command, moment: str, tmp_path: Path) -> None:
    # Nothing listens at this URL, so the test reaches no database even if the moment is accepted.
    settings = Settings(config=tmp_path / "none", database_url="postgresql://x@127.0.0.1:1/y")
    result = CliRunner().invoke(command, ["--now", moment], obj=settings)
    assert result.exit_code == 2
    assert f"'{moment}' is not within the years 2 to 9998" in " ".join(result.stderr.split())


def test_sources_without_files_and_unconfigured_sources_are_reported(
    settings: Settings, warehouse: Warehouse
) -> None:
    settings.config.write_text(CONFIG.replace('format = "nft"', 'format = "nft"\n  name = "new"'))
    renamed = read_settings(config=settings.config)
    assert find(renamed, warehouse) == [("sources", "The warehouse has no line of source llnl/new yet.")]
    assert find(renamed, warehouse, "note") == [
        ("sources", "Source llnl/nft is in the warehouse, but not in the configuration.")
    ]


def test_the_remains_of_a_killed_first_load_are_noted(
    settings: Settings, warehouse: Warehouse, database: psycopg.Connection
) -> None:
    database.execute("INSERT INTO core.archives (name, kind, timezone) VALUES ('bare', 'measured', 'UTC')")
    database.execute(
        "INSERT INTO ledger.sources (archive_id, name, format, timezone, clock_resolution_s, is_counted,"
        " earliest_at) SELECT id, 'stat', 'stat', 'UTC', 1, true, now() FROM core.archives"
        " WHERE name = 'llnl'"
    )
    database.commit()
    assert find(settings, warehouse) == []
    assert find(settings, warehouse, "note") == [
        (
            "sources",
            "Source llnl/stat is in the warehouse, but not in the configuration, and none of its files"
            " was loaded: load its logs, or `tapewise sources drop` it.",
        ),
        ("sources", "Archive bare has no source. Load its logs, or `tapewise archives drop` it."),
    ]


def test_a_ledger_that_does_not_add_up_is_reported(
    settings: Settings, warehouse: Warehouse, database: psycopg.Connection
) -> None:
    database.execute("DELETE FROM core.transfers WHERE line_number = 2")
    database.commit()
    ((check, sentence),) = find(settings, warehouse)
    assert check == "ledger"
    assert sentence.endswith("nft.log: the ledger has 2 loaded lines, core has 1.")


def test_as_many_of_the_latest_files_are_recounted_as_requested(
    settings: Settings, warehouse: Warehouse, database: psycopg.Connection, tmp_path: Path, load: Callable
) -> None:
    (tmp_path / "older").write_text(NFT.replace("97/10", "97/08") * 2)
    load(tmp_path / "older", "nft", archive="llnl")
    for row_limit, file_count, row_count in ((1, 1, 2), (5, 1, 2), (6, 2, 6)):
        (found,) = checks.check_ledger(database, row_limit)
        assert found.verdict == "ok", row_limit
        assert found.sentence.startswith(f"The {file_count} files with the latest events"), row_limit
        assert f" have {row_count} rows, as the ledger says" in found.sentence, row_limit


def test_mart_of_another_version_is_reported(
    settings: Settings, warehouse: Warehouse, database: psycopg.Connection
) -> None:
    database.execute("COMMENT ON SCHEMA mart IS 'made by hand (0123456789abcdef)'")
    database.commit()
    ((check, sentence),) = find(settings, warehouse)
    assert check == "database" and "run `tapewise db upgrade`" in sentence
    database.execute("DROP VIEW mart.source_states CASCADE")
    with pytest.raises(RevisionError, match="older"):
        states(database)
    database.rollback()


@pytest.mark.parametrize(
    ("before", "recent", "verdict"),
    [
        ((1000, 10), (1000, 27), "wrong"),
        ((1000, 10), (1000, 26), "ok"),  # at most twice the upper bound of the earlier share
        ((100, 0), (4000, 240), "ok"),
        ((100, 0), (4000, 241), "wrong"),
        ((2, 0), (1000, 999), "ok"),  # too few earlier lines to judge
        ((2, 0), (1000, 1000), "wrong"),
        ((2, 2), (1000, 1000), "ok"),
        ((1000, 0), (1000, 9), "ok"),  # too few rejects to judge
        ((1000, 0), (1000, 10), "wrong"),
        (None, (1000, 999), "ok"),  # no earlier lines to compare with
        (None, (1000, 1000), "wrong"),
    ],
)
def test_a_rise_of_rejects_is_reported(
    database: psycopg.Connection, before: tuple[int, int] | None, recent: tuple[int, int], verdict: str
) -> None:
    insert_rows(
        database,
        {
            "log_files": [
                {
                    "path": last_event_at,
                    "line_count": counts[0],
                    "rejected_count": counts[1],
                    "loaded_count": counts[0] - counts[1],
                    "last_event_at": last_event_at,
                }
                for counts, last_event_at in (
                    (before, "2000-01-08T00:00:00Z"),
                    (recent, "2000-01-08T00:00:01Z"),
                    ((0, 0), "2000-01-15T00:00:00Z"),
                )
                if counts is not None
            ]
        },
    )
    (state,) = states(database)
    (found,) = check_rejects(database, state)
    assert found.verdict == verdict, found.sentence


def test_a_file_without_events_is_dated_by_its_reading(database: psycopg.Connection) -> None:
    insert_rows(
        database,
        {
            "log_files": [
                {"path": "a", "line_count": 50, "loaded_count": 50, "last_event_at": "2000-01-20T00:00:00Z"},
                {"path": "b", "line_count": 50, "rejected_count": 50},  # first read on 1 February
            ]
        },
    )
    (state,) = states(database)
    (found,) = check_rejects(database, state)
    assert (found.verdict, "100.00%" in found.sentence) == ("wrong", True)


def test_empty_globs_and_an_unreachable_database_are_reported(tmp_path: Path) -> None:
    (tmp_path / "tapewise.toml").write_text(CONFIG + "silent_after_hours = 30\n")
    url = "postgresql://tapewise@127.0.0.1:1/nowhere"
    settings = read_settings(config=tmp_path / "tapewise.toml", database_url=url)
    found = list(examine(settings, NOW))
    assert found[0] == Finding("globs", "wrong", "Source llnl/nft: nothing matches 'nft*'.")
    assert (found[1].check, found[1].verdict) == ("database", "wrong")
    assert found[1].sentence.startswith("The database cannot be reached")
    result = CliRunner().invoke(doctor, obj=settings)
    assert result.exit_code == 1
    assert result.stdout.startswith("WRONG    globs     Source llnl/nft: nothing matches")


def test_unreadable_files_that_globs_match_are_reported(tmp_path: Path) -> None:
    (tmp_path / "tapewise.toml").write_text(CONFIG.replace('"nft*"', '"nft*", "logs"'))
    (tmp_path / "logs").mkdir()
    os.mkfifo(tmp_path / "nft.fifo")
    found = list(checks.check_globs(plan_round(read_settings(config=tmp_path / "tapewise.toml"))))
    assert found == [
        Finding("globs", "wrong", "Source llnl/nft: 'logs' is a folder: did you mean 'logs/*'?"),
        Finding("globs", "wrong", f"Source llnl/nft: {tmp_path}/nft.fifo is not a regular file."),
    ]


def test_a_disk_that_fills_up_is_reported(
    settings: Settings, warehouse: Warehouse, database: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    if warehouse.server is None:
        (found,) = checks.check_disk(database, warehouse, NOW)
        assert found.verdict == "unknown" and "not known" in found.sentence
        return
    for free, total, now, verdict in (
        (10 * 10**9, 10**11, NOW, "ok"),
        (10 * 10**9 - 1, 10**11, NOW, "wrong"),
        (10**6, 10**6, datetime(2026, 1, 2, tzinfo=UTC), "wrong"),  # the database is new and large
        (10**6, 10**6, datetime(2026, 3, 1, tzinfo=UTC), "ok"),
    ):
        monkeypatch.setattr(checks, "_find_free", lambda _, free=free, total=total: (1, free, total))
        (found,) = checks.check_disk(database, warehouse, now)
        assert found.verdict == verdict, found.sentence
    monkeypatch.undo()
    found = list(checks.check_disk(database, warehouse, NOW))
    assert found and all(re.search(r"has [0-9.]+ GB left", each.sentence) for each in found)


def test_a_run_in_progress_is_reported(warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(warehouse.connect(Role.LOADER, autocommit=True)) as connection:
        assert list(check_run(connection)) == []
        with hold_round(warehouse):
            (found,) = check_run(connection)
            assert (found.verdict, found.sentence) == (
                "note",
                "A run over the sources has been in progress for 0 min.",
            )
            monkeypatch.setattr(checks, "LONGEST_RUN", timedelta(0))
            (found,) = check_run(connection)
            assert found.verdict == "wrong"


def test_status_shows_hours_and_gaps(settings: Settings, warehouse: Warehouse) -> None:
    with warehouse.connect(Role.READER) as connection:
        (state,) = read_states(connection, "llnl")
        assert read_states(connection, "sdsc") == []
        days = read_days(connection, state, 2)
    assert [day.has_lines for day in days] == [(False,) * 24, (True, False, True)]
    assert find_gaps(days) == [
        (datetime(1997, 9, 30, tzinfo=UTC), datetime(1997, 10, 1, tzinfo=UTC)),
        (datetime(1997, 10, 1, 1, tzinfo=UTC), datetime(1997, 10, 1, 2, tzinfo=UTC)),
    ]


def test_days_have_their_actual_number_of_hours(database: psycopg.Connection) -> None:
    insert_rows(
        database,
        {
            "archives": [{"name": "west", "timezone": "America/Los_Angeles"}],
            "sources": [{"name": "nft"}],
            "transfers": [
                {"source": "nft", "ended_at": moment}
                for moment in ("2000-10-29T07:00:00Z", "2000-10-29T09:59:59Z", "2000-10-30T08:00:00Z")
            ],
            "log_files": [{"source": "nft", "last_event_at": "2000-10-30T08:00:00Z"}],
        },
    )
    (state,) = states(database)
    long, last = read_days(database, state, 2)
    assert (len(long.has_lines), len(last.has_lines)) == (25, 1)
    assert [hour for hour, has_lines in enumerate(long.has_lines) if has_lines] == [0, 2]


def test_a_day_without_hours_is_not_silent(database: psycopg.Connection) -> None:
    insert_rows(
        database,
        {
            "sources": [{"name": "hsi"}],
            "transfers": [
                {"source": "hsi", "ended_at": "2000-01-15T12:00:00Z", "is_time_of_day_unknown": True},
                {"source": "hsi", "ended_at": "2000-01-15T20:00:00Z"},
            ],
            "log_files": [{"source": "hsi", "last_event_at": "2000-01-15T20:00:00Z"}],
        },
    )
    (state,) = states(database)
    before, day = read_days(database, state, 2)
    assert before.has_lines == (False,) * 24
    assert day.has_lines == (None,) * 20 + (True,) + (None,) * 3
    assert find_gaps([before, day]) == [
        (datetime(2000, 1, 14, tzinfo=UTC), datetime(2000, 1, 15, tzinfo=UTC))
    ]


@pytest.mark.parametrize(
    ("span", "said"),
    [
        (timedelta(seconds=59), "0 min"),
        (timedelta(minutes=61), "1 h 1 min"),
        (timedelta(days=2, hours=3), "2 days 3 h"),
        (timedelta(minutes=-61), "-1 h 1 min"),
    ],
)
def test_spans_are_written_in_fitting_units(span: timedelta, said: str) -> None:
    assert describe_span(span) == said


def test_answers_with_names_that_are_not_kept_are_noted(
    settings: Settings, site: Site, warehouse: Warehouse, database: psycopg.Connection
) -> None:
    if site.server is None:
        return
    database.execute("UPDATE ledger.loaded_rows SET row_count = 200000")
    database.commit()
    assert "answers" not in [check for check, _ in find(settings, warehouse, "note")]
    # The same database as a site's own server, where the login of the reader sees no names.
    urls = {
        "database_url": site.server.url(warehouse.database, Role.OWNER.value),
        "reader_url": site.server.url(warehouse.database, COMMANDS),
    }
    theirs = Warehouse(settings.model_copy(update=urls), None, warehouse.database)
    (said,) = [said for check, said in find(settings, theirs, "note") if check == "answers"]
    assert "project_cold_data" in said and "not kept" in said
