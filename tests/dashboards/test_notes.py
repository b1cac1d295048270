"""A page says why its empty charts are empty."""

import json
from typing import Any

import psycopg
import pytest

from tests.dashboards.api import Api
from tests.dashboards.assets import (
    CHARTS,
    DASHBOARDS,
    NOTES,
    STUDIES,
    TAPES,
    Choice,
    charts_of,
    expected_rows,
)
from tests.dashboards.test_charts import dataset_id

OTHERS = "any other empty chart"
GETS_ONLY = "only for gets, but the filter chooses puts"
PUTS_ONLY = "only for puts, but the filter chooses gets"
EXAMPLE, SIMULATED = {"archive": "example"}, {"archive": "example-on-llnl"}
# Choices that leave charts empty. Filters that only the table's last row mentions are not among them.
CHOICES = {
    "nothing": Choice(),
    "the simulated archive": Choice(SIMULATED),
    "puts": Choice(EXAMPLE | {"direction": "put"}),
    "gets": Choice(EXAMPLE | {"direction": "get"}),
    "simulated puts": Choice(SIMULATED | {"direction": "put"}),
    "a year before the logs": Choice(EXAMPLE, "1997-01-01T00:00:00", "1998-01-01T00:00:00"),
    "an archive of tapes": Choice({"archive": TAPES}),
    "seven days": Choice(EXAMPLE | {"time_preset": "last 7 days"}),
}


def read_notes(viewer: Api, page: str, choice: Choice) -> dict[str, str]:
    """The notes of a page by chart title, as its table shows them."""
    (name,) = [each for each in charts_of(DASHBOARDS[page]) if each in NOTES]
    question = choice.apply(json.loads(CHARTS[name]["query_context"]))
    question["datasource"] = {"id": dataset_id(viewer, CHARTS[name]["dataset_uuid"]), "type": "table"}
    reply = viewer.post("api/v1/chart/data", question)
    assert reply.status == 200, reply.text
    (result,) = reply.json["result"]
    rows: list[dict[str, Any]] = result["data"]
    assert rows[-1]["chart"] == OTHERS
    return {row["chart"]: row["why"] for row in rows}


@pytest.mark.study("dashboards", "schema", "sql")
@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("page", sorted(DASHBOARDS.keys() - {STUDIES}))
def test_the_page_gives_the_reason_for_an_empty_chart(
    viewer: Api, reader: psycopg.Connection, page: str, choice: str
) -> None:
    notes = read_notes(viewer, page, CHOICES[choice])
    drawn = set()
    for name in charts_of(DASHBOARDS[page]):
        if name in NOTES:
            continue
        if expected_rows(reader, CHARTS[name], CHOICES[choice]):
            drawn.add(CHARTS[name]["slice_name"])
        else:
            assert CHARTS[name]["slice_name"] in notes
    # A chart that shows something has a note only if it shows one interface; the note says which.
    for title in drawn & set(notes):
        assert notes[title].startswith("only for nft, which has the most ")


@pytest.mark.parametrize(
    ("choice", "title", "note"),
    [
        ("puts", "Open times of gets, with their clusters", "only for gets, but the filter chooses puts"),
        ("puts", "The clusters of open times", "only for gets, but the filter chooses puts"),
        (
            "gets",
            "How long puts took, logged and simulated",
            "only for puts, but the filter chooses gets",
        ),
        (
            "the simulated archive",
            "Open times of gets, with their clusters",
            "not in a simulated archive: open times",
        ),
        ("the simulated archive", "Rejected lines by reason", "no line of this archive was rejected"),
        (
            "the simulated archive",
            "The classes: centres and sizes",
            "no workload model was fitted to this archive",
        ),
        (
            "a year before the logs",
            "Transfers over time, by interface",
            "no transfer that the filters choose ended in this time; those of the archive ended from "
            "1998-10-18 to 1998-10-31",
        ),
        (
            "a year before the logs",
            "How long recalls took",
            "the logs only go from 1998-10-18 00:07 to 1998-10-31 22:56",
        ),
    ],
)
def test_the_reason_is_the_right_one(viewer: Api, choice: str, title: str, note: str) -> None:
    (page,) = [
        page
        for page in DASHBOARDS
        if title in [CHARTS[name]["slice_name"] for name in charts_of(DASHBOARDS[page])]
    ]
    assert read_notes(viewer, page, CHOICES[choice])[title] == note


def test_the_interface_of_a_chart_is_not_mentioned_if_one_is_chosen(viewer: Api) -> None:
    assert len(read_notes(viewer, "transfers", Choice(EXAMPLE))) == 5
    chosen = Choice(EXAMPLE | {"interface": "hsi"})
    assert list(read_notes(viewer, "transfers", chosen)) == [OTHERS]
