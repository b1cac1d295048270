"""Superset's pages as a person sees them: a browser that logs in, opens pages, and records their requests.

Used by the tests and by recording.py. Requires Debian's chromium and the Python package playwright.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Error, Page, Response, TimeoutError, sync_playwright

CHROMIUM = "/usr/bin/chromium"
# Charts load when they scroll into view, so the window is as tall as the tallest page.
WINDOW = {"width": 1400, "height": 3200}
TIMEOUT_MS = 90_000
QUIET_MS = 1_500


@dataclass
class Answer:
    """Superset's answer to one request for data."""

    status: int
    question: dict[str, Any]
    text: str

    @property
    def chart_id(self) -> int | None:
        """The chart that made the request; None for a filter's list of choices."""
        number = self.question["form_data"].get("slice_id")
        return None if number is None else int(number)


@dataclass
class Browser:
    """A logged-in page, and the answers to its requests for data."""

    page: Page
    address: str
    answers: list[Answer] = field(default_factory=list)

    def open(self, path: str) -> None:
        """Discard earlier answers, open a page of Superset, and wait until it has finished loading."""
        self.answers.clear()
        self.page.goto(self.address + path, wait_until="domcontentloaded")
        self.page.wait_for_selector(".chart-container", timeout=TIMEOUT_MS)
        self.wait()

    def wait(self) -> None:
        """Wait until no chart of the page is loading."""
        quiet_ms = waited_ms = 0
        while quiet_ms < QUIET_MS:
            if waited_ms > TIMEOUT_MS:
                raise TimeoutError(f"{self.page.url} is still loading after {waited_ms / 1000:.0f} s")
            self.page.wait_for_timeout(250)
            waited_ms += 250
            quiet_ms = 0 if self.page.locator(".loading").count() else quiet_ms + 250

    def hear(self, response: Response) -> None:
        """Record a response, if it answers a request for data."""
        if "/api/v1/chart/data" in response.url and response.request.post_data:
            question = json.loads(response.request.post_data)
            try:
                text = response.text()
            except Error:  # the page was left before the answer was whole
                return
            self.answers.append(Answer(response.status, question, text))

    def ask(self, path: str) -> Any:
        """Fetch JSON from `path`, with this page's login."""
        return self.page.context.request.get(self.address + path).json()


@contextmanager
def open_browser(address: str, user: str, password: str) -> Iterator[Browser]:
    """Open a headless browser that is logged in as `user` at `address` (which ends with a slash)."""
    with sync_playwright() as playwright:
        # Chromium's sandbox does not work for root. It is not needed, because only our pages are opened.
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            page = chromium.new_page(viewport={"width": WINDOW["width"], "height": WINDOW["height"]})
            page.set_default_timeout(TIMEOUT_MS)
            _log_in(page, address, user, password)
            browser = Browser(page, address)
            page.on("response", browser.hear)
            yield browser
        finally:
            chromium.close()


def _log_in(page: Page, address: str, user: str, password: str) -> None:
    """Send the login form without opening its page.

    The login page asks the server for more while its form is sent. On a busy machine, such an answer may come
    last, and its cookie, which is not logged in, replaces the one that is.
    """
    request = page.context.request
    form = request.get(address + "login/").text()
    token = re.search(r'id="csrf_token"\s+value="([^"]+)"', form)
    if token is None:
        raise RuntimeError(f"the login form at {address} has no CSRF token")
    request.post(address + "login/", form={"username": user, "password": password, "csrf_token": token[1]})
    answer = request.get(address + "api/v1/me/")
    if not answer.ok:
        raise RuntimeError(f"{user} cannot log in at {address}: {answer.status} {answer.text()}")


def read_logins(file: Path) -> dict[str, str]:
    """Return the password of each user, read from the file `login` that `make dashboards` writes."""
    return dict(line.split(" ", 1) for line in file.read_text(encoding="utf-8").splitlines())
