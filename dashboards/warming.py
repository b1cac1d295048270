"""Asks the pages' questions after the warehouse has changed, so that nobody waits for a first answer.

A thread of the process that serves the pages does this (gunicorn_settings.py), because that process also
keeps how texts are parsed. It needs no password: it asks as the user `viewer`, and the same checks apply.
Superset keeps the answers under the state of the warehouse (freshness.py), so they are never out of date.
Runs in Superset's environment.
"""

import json
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from flask import Flask
from freshness import find_state, is_written
from questions import Rows, ask_page

VARIABLE = "TAPEWISE_WARM_EVERY_MIN"
EVERY_MIN = 10.0
USER = "viewer"
# The warehouse must have been left alone for a minute: loads often follow each other.
QUIET_S = 60.0
POLL_S = 15.0
# People come first: before each question, this waits until no request has been running for a moment.
MOMENT_S, PATIENCE_S = 0.3, 10.0

log = logging.getLogger("tapewise.warming")


def read_interval_s() -> float:
    """Return the least time between two rounds of questions, in s; 0 if there shall be none.

    Raises SystemExit if the variable is not a number of minutes.
    """
    text = os.environ.get(VARIABLE) or str(EVERY_MIN)
    try:
        minutes = float(text)
    except ValueError:
        minutes = -1
    if not 0 <= minutes < 1e6:
        raise SystemExit(f"warming.py: {VARIABLE} must be a number of minutes, or 0 for never: {text!r}")
    return minutes * 60


class Rounds:
    """Decides when a round of questions is due. Times are in s, on any clock that never goes back."""

    def __init__(self, interval_s: float) -> None:
        self._interval_s = interval_s
        self._quiet_s = min(QUIET_S, interval_s)
        self._seen: str | None = None
        self._asked: str | None = None
        self._quiet_since = self._ended_at = float("-inf")

    def is_due(self, state: str, *, is_written: bool, now_s: float) -> bool:
        """Whether to ask now, if the warehouse is in `state` and a program that writes may be connected."""
        if state != self._seen or is_written:
            self._seen, self._quiet_since = state, now_s
        return (
            state != self._asked
            and now_s - self._quiet_since >= self._quiet_s
            and now_s - self._ended_at >= self._interval_s
        )

    def end(self, asked: str | None, now_s: float) -> None:
        """Note the end of a round, and the state that all questions were asked in, or None if it failed."""
        self._asked, self._ended_at = asked, now_s


class Traffic:
    """A WSGI application that knows whether it is answering somebody."""

    def __init__(self, application: Callable[..., Iterable[bytes]]) -> None:
        self._application = application
        self._lock = threading.Lock()
        self._running_count = 0
        self._ended_at = float("-inf")

    def __call__(self, environment: Any, start_response: Any) -> Iterable[bytes]:
        """Answer a request."""
        with self._lock:
            self._running_count += 1
        try:
            return self._application(environment, start_response)
        finally:
            with self._lock:
                self._running_count -= 1
                self._ended_at = time.monotonic()

    def wait(self) -> None:
        """Wait for a moment without requests, but not for ever."""
        deadline = time.monotonic() + PATIENCE_S
        while (now := time.monotonic()) < deadline:
            if not self._running_count and now - self._ended_at >= MOMENT_S:
                return
            time.sleep(MOMENT_S)


@dataclass
class Round:
    """What came of asking all questions."""

    question_count: int = 0
    new_count: int = 0
    keys: set[str] = field(default_factory=set)
    error: str = ""

    @property
    def counts(self) -> tuple[int, int]:
        """The questions, and those of them that Superset had no answer for."""
        return self.question_count, self.new_count


def start_warming(app: Flask) -> None:
    """Start the thread, unless it is switched off."""
    interval_s = read_interval_s()
    if interval_s:
        app.wsgi_app = traffic = Traffic(app.wsgi_app)
        threading.Thread(target=_warm, args=(app, traffic, interval_s), name="warming", daemon=True).start()


def _warm(app: Flask, traffic: Traffic, interval_s: float) -> None:
    rounds, said = Rounds(interval_s), ""
    kept: set[str] = set()
    while True:
        try:
            state, written = _look(app)
            if rounds.is_due(state, is_written=written, now_s=time.monotonic()):
                begin = time.monotonic()
                rounds.end(None, begin)  # should this round fail, the next is not sooner
                done = _ask_all(app, traffic)
                _forget(app, kept - done.keys)
                kept = done.keys
                end = time.monotonic()
                rounds.end(state if state == _look(app)[0] else None, end)
                log.info("warming: %d questions, %d of them new, in %.0f s", *done.counts, end - begin)
                if done.error:
                    log.warning("warming: %s", done.error)
            said = ""
        except Exception as error:  # whatever it was, the pages still work, and the next round may succeed
            words = " ".join(str(error).split())[:300] or type(error).__name__
            if words != said:
                log.warning("warming: tried again later, because it failed: %s", words)
            said = words
        time.sleep(min(POLL_S, interval_s))


def _look(app: Flask) -> tuple[str, bool]:
    """Return the state of the warehouse, and whether a program that writes to it is connected."""
    from superset import db
    from superset.models.core import Database
    from viewers import WAREHOUSE

    with app.app_context():
        database = db.session.query(Database).filter_by(uuid=WAREHOUSE).one()
        return str(find_state(database)), is_written(database)


def _ask_all(app: Flask, traffic: Traffic) -> Round:
    """Ask the questions of all our pages."""
    done = Round()

    def ask(question: dict[str, Any]) -> Rows:
        traffic.wait()
        done.question_count += 1
        try:
            answers = _ask(app, question)
        except Exception as error:  # a question that fails does not keep the others from being asked
            done.error = f"a question failed: {' '.join(str(error).split())[:300]}"
            return []
        done.keys.update(each["cache_key"] for each in answers)
        done.new_count += not all(each["is_cached"] for each in answers)
        rows: Rows = answers[0]["data"]
        return rows

    for filters, charts in _list_pages(app):
        ask_page(filters, charts, ask)
    return done


def _list_pages(app: Flask) -> list[tuple[Rows, Rows]]:
    """Return the filters and the charts of each of our pages."""
    from superset import db
    from superset.models.dashboard import Dashboard

    with app.app_context():
        return [
            (
                json.loads(page.json_metadata)["native_filter_configuration"],
                [
                    {
                        "id": chart.id,
                        "cache_timeout": chart.cache_timeout,
                        "query_context": json.loads(chart.query_context),
                    }
                    for chart in page.slices
                ],
            )
            for page in db.session.query(Dashboard).filter_by(is_managed_externally=True)
        ]


def _ask(app: Flask, question: dict[str, Any]) -> list[dict[str, Any]]:
    """Answer a question as Superset's API does, for the user `viewer`; return the answers of its queries."""
    from superset import security_manager
    from superset.charts.schemas import ChartDataQueryContextSchema
    from superset.commands.chart.data.get_data_command import ChartDataCommand
    from superset.utils.core import override_user

    # The templates of datasets read the filters from the request.
    with app.test_request_context("/api/v1/chart/data", method="POST", json=question):
        user = security_manager.find_user(USER)
        if user is None:
            raise LookupError(f"there is no user '{USER}'")
        with override_user(user):
            command = ChartDataCommand(ChartDataQueryContextSchema().load(question))
            command.validate()
            answers: list[dict[str, Any]] = command.run()["queries"]
            return answers


def _forget(app: Flask, keys: set[str]) -> None:
    """Remove answers of an earlier state, which nobody will ask for."""
    from superset.extensions import cache_manager

    with app.app_context():
        cache_manager.data_cache.delete_many(*keys)
