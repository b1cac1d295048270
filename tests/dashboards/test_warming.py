"""After a change, the pages' questions are asked before anybody looks, and a first look finds all answers."""

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tapewise.dashboards.browser import open_browser
from tapewise.dashboards.service import FOLDER, PROGRAMS, Service
from tapewise.schema.database import Role, Warehouse
from tests.dashboards.api import Api
from tests.dashboards.assets import DASHBOARDS
from tests.dashboards.conftest import TREE
from tests.dashboards.test_freshness import run

VARIABLE = "TAPEWISE_WARM_EVERY_MIN"
INTERVAL_S = 6
ROUND_S = 300  # more than a round takes on a busy machine
WORDS = "warming: "


@pytest.fixture(scope="module")
def warmed(service: Service) -> Iterator[Service]:
    """The session's Superset, restarted without answers in its cache, and with warming."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(INTERVAL_S / 60))
        for answer in (service.folder / "cache" / "data").glob("*"):
            answer.unlink()
        before = len(read_rounds(service))
        service.start()
        wait_for_round(service, before)
        yield service
    service.start()


def read_rounds(service: Service) -> list[str]:
    return [line for line in service.log_file.read_text("utf-8").splitlines() if WORDS in line]


def wait_for_round(service: Service, count: int) -> str:
    """Wait until more than `count` rounds have ended; return what the log says about the last."""
    deadline = time.monotonic() + ROUND_S
    while len(rounds := read_rounds(service)) <= count:
        assert time.monotonic() < deadline
        time.sleep(0.5)
    return rounds[-1]


def check_first_look(service: Service, user: str, password: str, names: list[str]) -> int:
    """Open pages, whose answers must all come from the cache; return how many there were."""
    count = 0
    with open_browser(service.address, user, password) as browser:
        for name in names:
            browser.open(f"superset/dashboard/{DASHBOARDS[name]['slug']}/")
            for answer in browser.answers:
                assert answer.status == 200, answer.text
                for result in json.loads(answer.text)["result"]:
                    assert result["is_cached"], (name, answer.question)
            count += len(browser.answers)
    return count


@pytest.mark.study("dashboards")
def test_a_first_look_finds_all_answers(warmed: Service, logins: dict[str, str]) -> None:
    asked = read_rounds(warmed)[-1]
    found = check_first_look(warmed, "viewer", logins["viewer"], list(DASHBOARDS))
    # Not one question more than a browser asks, and none failed.
    assert f"{WORDS}{found} questions, " in asked
    assert check_first_look(warmed, "admin", logins["admin"], ["morning", "overview"])


@pytest.mark.study("dashboards")
def test_answers_are_asked_for_again_after_a_load(
    warmed: Service, warehouse: Warehouse, viewer: Api, logins: dict[str, str], tmp_path: Path
) -> None:
    log = tmp_path / "new.log"
    lines = (TREE / "examples" / "logs" / "hsi.log").read_bytes().splitlines(keepends=True)[:20]
    log.write_bytes(b"".join(lines))
    before = len(read_rounds(warmed))
    new = ("--archive", "a new one", "--format", "hsi", "--timezone", "America/Los_Angeles")
    try:
        with warehouse.connect(Role.LOADER):  # as long as a load runs, nothing is asked
            run(warmed, "ingest", *new, log)
            time.sleep(4 * INTERVAL_S)
            assert len(read_rounds(warmed)) == before
        wait_for_round(warmed, before)
        with open_browser(warmed.address, "viewer", logins["viewer"]) as browser:
            browser.open(f"superset/dashboard/{DASHBOARDS['data-quality']['slug']}/")
            answers = list(browser.answers)
        listed = set()
        for answer in answers:
            (result,) = json.loads(answer.text)["result"]
            assert result["is_cached"]
            fresh = viewer.post("api/v1/chart/data", answer.question | {"force": True}).json["result"][0]
            assert not fresh["is_cached"] and fresh["data"] == result["data"], answer.question
            listed |= {row.get("archive") for row in result["data"]}
        assert "a new one" in listed
    finally:
        run(warmed, "archives", "drop", "a new one", "--yes")


# Runs in Superset's environment.
PROGRAM = """\
import os
import warming
from warming import Rounds, Traffic, read_interval_s

# A round is due when the warehouse was left alone for a minute, and then not before it changes.
rounds = Rounds(600)
def due(state, now_s, is_written=False):
    return rounds.is_due(state, is_written=is_written, now_s=now_s)

assert not due("a", 0) and not due("a", 59) and due("a", 60)
rounds.end("a", 100)
assert not due("a", 2000)
assert not due("b", 2000) and not due("c", 2050) and not due("c", 2109) and due("c", 2110)
# A program that writes is like a change.
assert not due("c", 2111, is_written=True) and not due("c", 2170) and due("c", 2171)
rounds.end("c", 2200)
# Not more often than every ten minutes.
assert not due("d", 2300) and not due("d", 2799) and due("d", 2800)
# After a round that failed, the same state is asked again.
rounds.end(None, 2800)
assert not due("d", 3399) and due("d", 3400)

for text, expected_s in (("", 600), ("0", 0), ("2.5", 150)):
    os.environ[warming.VARIABLE] = text
    assert read_interval_s() == expected_s
for text in ("-1", "ten", "nan", "1e9"):
    os.environ[warming.VARIABLE] = text
    try:
        read_interval_s()
    except SystemExit as error:
        assert warming.VARIABLE in str(error) and repr(text) in str(error)
    else:
        raise AssertionError(text)

# A question that fails leaves the others, and is said.
FILTER = {"id": "f", "filterType": "filter_select", "cascadeParentIds": [],
    "targets": [{"datasetId": 1, "column": {"name": "archive"}}],
    "controlValues": {"sortAscending": True, "defaultToFirstItem": True},
    "defaultDataMask": {"extraFormData": {}}, "scope": {"excluded": [8]}}
CONTEXT = {"datasource": {"id": 2, "type": "table"}, "form_data": {}, "queries": [{"filters": []}]}
asked = []
def ask(app, question):
    asked.append(question)
    if question["form_data"].get("slice_id") == 7:
        raise ValueError("no\\n column")
    return [{"cache_key": f"k{len(asked)}", "is_cached": len(asked) == 1, "data": [{"archive": "x"}]}]
warming._ask = ask
charts = [{"id": number, "cache_timeout": kept_s, "query_context": CONTEXT} for number, kept_s in
    ((7, None), (8, None), (9, 600))]
warming._list_pages = lambda app: [([FILTER], charts)]
done = warming._ask_all(None, Traffic(None))
assert done.counts == (4, 2) and done.error == "a question failed: no column"
assert done.keys == {"k1", "k3", "k4"}
chosen = [{"col": "archive", "op": "IN", "val": ["x"]}]
assert [each["queries"][0]["filters"] for each in asked] == [[], chosen, [], chosen]
# What depends on the clock is kept as long as its chart says.
assert [each["custom_cache_timeout"] for each in asked] == [2592000, 2592000, 2592000, None]

# It waits for people, but not for ever.
warming.PATIENCE_S = 0.5
import time
def answer(environment, start_response):
    begin = time.monotonic()
    traffic.wait()
    assert time.monotonic() - begin >= 0.5
    return []
traffic = Traffic(answer)
traffic(None, None)
warming.PATIENCE_S, begin = 10, time.monotonic()
traffic.wait()
assert 0.2 < time.monotonic() - begin < 5
print("done")
"""


def test_when_questions_are_asked() -> None:
    python = [PROGRAMS / "python", "-c", PROGRAM]
    done = subprocess.run(python, cwd=FOLDER, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr[-2000:]
