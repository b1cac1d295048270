"""What the questions of some sections of a report choose, and what is found in it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from tapewise.report import recent
from tapewise.report.section import Scope, Section, ask, collect_facts, find, find_limits
from tapewise.report.sections import classes, envelopes, mounts, silences
from tests.integration.test_idle import make_cells
from tests.sql.cases import insert_rows

ARCHIVE = "Europe/Berlin"  # the helpers call an archive as its zone


def answer(database: psycopg.Connection, section: Section) -> tuple[list[Any], str]:
    """Return the rows that the section shows, and the sentence that it finds."""
    answers = ask(database, Scope(ARCHIVE), [section])
    return list(collect_facts(answers)[section.name]), find(answers)[section.name].sentence


def test_the_least_explained_silence_is_shown_after_ten_longer_ones(database: psycopg.Connection) -> None:
    """Twelve outages of two days explain all of their silence but half an hour; one of 30 h has none."""
    began_at = datetime.fromisoformat("2024-02-05T00:00:00+01:00")
    transfers, outages = [], []
    for number in range(14):
        at = began_at + timedelta(days=2 * number) - timedelta(hours=18 if number == 13 else 0)
        transfers.append({"archive": ARCHIVE, "ended_at": at.isoformat(), "is_failed": False})
        if number < 12:
            outages.append(
                {
                    "archive": ARCHIVE,
                    "started_at": at.isoformat(),
                    "ended_at": (at + timedelta(hours=47.5)).isoformat(),
                }
            )
    transfers = [row | {"duration_s": 0.0, "started_at": row["ended_at"]} for row in transfers]
    insert_rows(
        database,
        {
            "archives": [{"name": ARCHIVE, "timezone": ARCHIVE}],
            "transfers": transfers,
            "activity_cells": make_cells(transfers, ARCHIVE),
            "outages": outages,
        },
    )
    rows, sentence = answer(database, silences.SECTION)
    assert [round(row["idle_s"] / 3600) for row in rows] == [48] * 10 + [30]
    assert [row["is_explained"] for row in rows] == [True] * 10 + [False]
    assert sentence == "No transfer for 30 h from Thu 2024-02-29 00:00, and no recorded outage explains it"


def test_files_of_cartridges_that_reached_no_drive_are_no_mounts(database: psycopg.Connection) -> None:
    """There are 110 mounts of three files each, and 110 requests to mount that nothing followed."""
    began_at = datetime.fromisoformat("2024-02-05T00:00:00Z")
    events: list[dict[str, Any]] = []
    for number in range(110):
        for suffix, file_count in (("A", 3), ("B", 1)):
            for file in range(file_count):
                at = began_at + timedelta(hours=number)
                event = {
                    "archive": ARCHIVE,
                    "vsn": f"{suffix}{number}",
                    "capability_key": 10 * number + file + (5 if suffix == "B" else 0),
                }
                if file == 0:
                    events.append(event | {"kind": "mount requested", "happened_at": at.isoformat()})
                if suffix == "A":
                    event["drive"] = f"d{number % 30}"
                    events += [
                        event
                        | {"kind": kind, "happened_at": (at + timedelta(minutes=1 + 2 * file)).isoformat()}
                        for kind in ("positioned", "transferred")
                    ]
    insert_rows(database, {"archives": [{"name": ARCHIVE, "timezone": ARCHIVE}], "tape_events": events})
    rows, sentence = answer(database, mounts.SECTION)
    counts = {row["drive"]: (row["mount_count"], row["file_count"]) for row in rows}
    assert counts.pop(None) == (110, None)
    assert set(counts) == {f"d{number}" for number in range(30)}
    assert set(counts.values()) == {(4, 12), (3, 9)}
    assert sentence == "A mount serves 3.0 files on average"


def test_an_envelope_of_too_many_transfers_is_that_of_the_latest(database: psycopg.Connection) -> None:
    """The counts of the day say 400,000, which are too many to be read while somebody waits."""
    noon = datetime.fromisoformat("2024-02-05T12:00:00+01:00")
    transfers = [
        {
            "archive": ARCHIVE,
            "ended_at": (noon + timedelta(seconds=number - 1000)).isoformat(),
            "size_bytes": 1000 * (1 + number % 500),
            "duration_s": (5 if number < 1000 else 2) + (1 + number % 500) / 1000,
            "direction": "get",
        }
        for number in range(2000)
    ]
    given: dict[str, Any] = {"archives": [{"name": ARCHIVE, "timezone": ARCHIVE}], "transfers": transfers}
    insert_rows(
        database,
        given
        | {
            "day_cells": [
                {"archive": ARCHIVE, "day": "2024-02-05", "class_of_service": "a", "transfer_count": 400_000}
            ]
        },
    )

    def read(recent_since: datetime | None) -> dict[str, Any]:
        (answer,) = ask(database, Scope(ARCHIVE, recent_since=recent_since), [envelopes.SECTION])
        (row,) = collect_facts([answer]).get("envelopes", [{}])
        limit = find_limits([answer]).get("envelopes")
        return {"limit": limit} | {name: row.get(name) for name in ("transfer_count", "latency_s")}

    assert read(None) == {"limit": None, "transfer_count": None, "latency_s": None}
    assert read(noon) == {
        "limit": "Only transfers that ended from Mon 2024-02-05 12:00 on; to read all of them would take"
        " too long.",
        "transfer_count": 1000,
        "latency_s": pytest.approx(2),
    }
    # Those of all transfers are better, if they can be computed.
    database.execute("UPDATE core.day_cells SET transfer_count = 2000")
    assert read(noon) == {"limit": None, "transfer_count": 2000, "latency_s": pytest.approx(2, abs=0.1)}


def make_hours(*counts: int, hourless_count: int = 0) -> list[dict[str, Any]]:
    """Cells of ten minutes, from 10:00 on 2024-02-05 in Berlin: `counts` transfers in each hour."""
    began_at = datetime.fromisoformat("2024-02-05T10:00:00+01:00")
    cells = [
        {"cell_at": (began_at + timedelta(hours=hour, minutes=10 * part)).isoformat()}
        | {"transfer_count": count // 2, "is_time_of_day_unknown": False}
        for hour, count in enumerate(counts)
        for part in (0, 5)
    ]
    if hourless_count:
        midnight = "2024-02-05T00:00:00+01:00"
        cells.append({"cell_at": midnight, "transfer_count": hourless_count, "is_time_of_day_unknown": True})
    return [{"archive": ARCHIVE} | cell for cell in cells]


@pytest.mark.parametrize(
    ("cells", "recent_hour"),
    [
        (make_hours(100, 100, 100), None),
        (make_hours(100, 100, 102), 11),
        (make_hours(300, 100, 200), 11),
        (make_hours(2, 400), 11),
        (make_hours(2, 400, 2), 12),
        ([], None),
        # Transfers of an unknown hour are stored as of noon.
        (make_hours(100, 100, 100, hourless_count=2), 11),
        (make_hours(100, 100, 100, hourless_count=200), 12),
    ],
)
def test_the_latest_transfers_begin_with_an_hour(
    database: psycopg.Connection,
    monkeypatch: pytest.MonkeyPatch,
    cells: list[dict[str, Any]],
    recent_hour: int | None,
) -> None:
    monkeypatch.setattr(recent, "MOST_TRANSFERS", 300)
    insert_rows(database, {"archives": [{"name": ARCHIVE, "timezone": ARCHIVE}], "activity_cells": cells})
    found = recent.limit_scope(database, Scope(ARCHIVE)).recent_since
    expected = (
        None if recent_hour is None else datetime.fromisoformat(f"2024-02-05T{recent_hour:02}:00:00+01:00")
    )
    assert found == expected


def test_the_latest_transfers_are_those_of_the_range(
    database: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There are 20 transfers in each of 40 hours: 14 of them on the first day, 24 on the next."""
    monkeypatch.setattr(recent, "MOST_TRANSFERS", 300)
    insert_rows(
        database,
        {"archives": [{"name": ARCHIVE, "timezone": ARCHIVE}], "activity_cells": make_hours(*[20] * 40)},
    )
    midnight, next_noon, latest = (
        datetime.fromisoformat(f"2024-02-06T{hour:02}:00:00+01:00") for hour in (0, 12, 11)
    )
    for scope, found in (
        (Scope(ARCHIVE), latest),
        (Scope(ARCHIVE, until=midnight), None),
        (Scope(ARCHIVE, since=midnight), latest),
        (Scope(ARCHIVE, since=next_noon), None),
    ):
        assert recent.limit_scope(database, scope).recent_since == found


def test_an_hour_begins_by_the_clock_of_the_archive(
    database: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recent, "MOST_TRANSFERS", 300)
    zone = "Asia/Kolkata"  # half an hour off
    cells = [
        {"archive": zone, "cell_at": f"2024-02-05T{time}:00+05:30", "transfer_count": 200}
        for time in ("09:50", "10:00", "10:50")
    ]
    insert_rows(database, {"archives": [{"name": zone, "timezone": zone}], "activity_cells": cells})
    found = recent.limit_scope(database, Scope(zone)).recent_since
    assert found == datetime.fromisoformat("2024-02-05T10:00:00+05:30")


def test_classes_are_those_of_a_model_of_the_period(database: psycopg.Connection) -> None:
    """May's model is older than the one of all time, and is that of all reports whose period has May."""

    def at(month: int) -> datetime:
        return datetime(2024, month, 1, tzinfo=UTC)

    models = [
        {"name": "all", "fitted_at": "2024-12-02T00:00:00Z"},
        {"name": "may", "since": str(at(5)), "until": str(at(6)), "fitted_at": "2024-12-01T00:00:00Z"},
    ]
    insert_rows(
        database,
        {
            "archives": [{"name": ARCHIVE, "timezone": ARCHIVE}],
            "workload_models": models,
            "workload_groups": [{"model_id": 1}, {"model_id": 2}],
            "workload_classes": [{"model_id": 1, "class_number": 1}, {"model_id": 2, "class_number": 1}],
        },
    )
    for since, until, expected in [
        (None, None, {"all"}),
        (at(5), at(6), {"may"}),
        (at(4), None, {"may"}),
        (None, at(7), {"may"}),
        (at(6), at(7), set[str]()),
        (at(4), at(5), set[str]()),
    ]:
        answers = ask(database, Scope(ARCHIVE, since, until), [classes.SECTION])
        rows = collect_facts(answers).get("classes", [])
        assert {row["model"] for row in rows} == expected, (since, until)
