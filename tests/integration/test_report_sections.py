"""What the questions of some sections of a report choose, and what is found in it."""

from datetime import datetime, timedelta
from typing import Any

import psycopg

from tapewise.report.section import Scope, Section, ask, collect_facts, find
from tapewise.report.sections import mounts, silences
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
    assert counts.pop(None) == (110, 0)
    assert set(counts) == {f"d{number}" for number in range(30)}
    assert set(counts.values()) == {(4, 12), (3, 9)}
    assert sentence == "A mount serves 3.0 files on average"
