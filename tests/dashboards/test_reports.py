"""The report of an archive, as the pages lead to it."""

import html
import io
import json
import os
import re
import shutil
import sqlite3
import unicodedata
import urllib.parse
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pypdf import PdfReader

from tapewise.dashboards.browser import open_browser
from tapewise.dashboards.service import Service
from tapewise.report.kept_pages import name_file
from tests.dashboards.api import Api
from tests.dashboards.assets import CHARTS, DASHBOARDS, STUDIES, Choice, charts_of
from tests.dashboards.test_charts import dataset_id

TREE = Path(__file__).resolve().parents[2]
PAGE = TREE / "docs" / "example-report.html"
ODD = "it's <b> 100% {{ 1 }} ../x"
WRITTEN_S = 1_000_000_000  # 2001-09-09 01:46:40 UTC


@pytest.fixture(scope="module")
def folder(service: Service) -> Iterator[Path]:
    """The folder with a report of the demo's archive, and one of an archive with an odd name."""
    folder = service.settings.reports_folder
    folder.mkdir()
    for archive in ("example", ODD):
        path = Path(shutil.copyfile(PAGE, folder / name_file(archive)))
        os.utime(path, (WRITTEN_S, WRITTEN_S))
    (folder / "secret.html").write_text("secret")
    (folder.parent / f"outside{name_file('')}").write_text("secret")
    yield folder
    shutil.rmtree(folder)


def write_path(archive: str) -> str:
    return f"tapewise/report/?archive={urllib.parse.quote(archive, safe='')}"


def test_a_report_needs_a_login(service: Service, folder: Path) -> None:
    nobody = Api.without_login(service.address)
    for archive in ("example", "not there"):
        reply = nobody.get(write_path(archive))
        assert reply.status == 302
        assert "What is notable" not in reply.text and 'href="/login/?next=%2Ftapewise' in reply.text


@pytest.fixture
def stranger(service: Service) -> Iterator[str]:
    """A user with the viewer's password and Superset's role Gamma, which may read no dataset."""
    with closing(sqlite3.connect(service.folder / "superset.db")) as users, users:
        users.execute(
            "INSERT INTO ab_user (id, first_name, last_name, username, password, active, email)"
            " SELECT 999, first_name, last_name, 'stranger', password, active, 'stranger@localhost'"
            " FROM ab_user WHERE username = 'viewer'"
        )
        users.execute(
            "INSERT INTO ab_user_role (id, user_id, role_id)"
            " SELECT 999, 999, id FROM ab_role WHERE name = 'Gamma'"
        )
    yield "stranger"
    with closing(sqlite3.connect(service.folder / "superset.db")) as users, users:
        users.execute("DELETE FROM ab_user_role WHERE user_id = 999")
        users.execute("DELETE FROM ab_user WHERE id = 999")


def test_who_may_not_read_the_pages_may_not_read_the_report(
    service: Service, logins: dict[str, str], folder: Path, stranger: str
) -> None:
    with open_browser(service.address, stranger, logins["viewer"]) as browser:
        for archive in ("example", "not there"):
            reply = browser.page.context.request.get(service.address + write_path(archive))
            assert (reply.status, "You may not read the reports" in reply.text()) == (403, True)
            assert "What is notable" not in reply.text()


def read_link(viewer: Api, archive: str) -> str:
    """What the strip at the top of each page has as the link to the report; a cached answer will do."""
    question = Choice({"archive": archive}).apply(json.loads(CHARTS["archive_shown"]["query_context"]))
    question |= {"force": False}
    number = dataset_id(viewer, CHARTS["archive_shown"]["dataset_uuid"])
    question["datasource"] = {"id": number, "type": "table"}
    (row,) = viewer.post("api/v1/chart/data", question).json["result"][0]["data"]
    link: str = row["report"]
    return link


def test_each_page_has_a_link_with_the_age_of_the_report(viewer: Api, folder: Path) -> None:
    on_pages = [name for name, page in DASHBOARDS.items() if "archive_shown" in charts_of(page)]
    assert set(on_pages) == DASHBOARDS.keys() - {STUDIES}
    address = "/tapewise/report/?archive=%65%78%61%6d%70%6c%65"
    link = read_link(viewer, "example")
    assert re.fullmatch(rf'<a href="{re.escape(address)}">of 2001-09-08 18:46, [\d,]+\.\d days old</a>', link)
    (folder / name_file("example")).touch()
    assert " s old</a>" in read_link(viewer, "example")  # not from the cache
    assert read_link(viewer, "example-on-llnl").endswith(">none yet</a>")


# A name, and the word of a shell in the command.
NOT_THERE = {
    "example-on-llnl": "example-on-llnl",
    "a 'b' <script>": """'a '"'"'b'"'"' <script>'""",
    "../outside": "../outside",
    "..%2foutside": "..%2foutside",
    "secret.html": "secret.html",
    "x" * 300: "x" * 300,
    "a\0b": "'a\0b'",
}


def test_a_report_is_shown_and_prints_whole(service: Service, logins: dict[str, str], folder: Path) -> None:
    """Where there is none, the command is shown, and no name leads to another file."""
    with open_browser(service.address, "viewer", logins["viewer"]) as browser:
        page, session = browser.page, browser.page.context.request
        for archive, word in NOT_THERE.items():
            reply = session.get(service.address + write_path(archive))
            shown = html.escape(word).replace("&#x27;", "&#39;").replace("&quot;", "&#34;")
            assert f"<code>tapewise report --for-dashboards --archive {shown}</code>" in reply.text()
            assert reply.status == 404 and '<a href="/">Back to the pages</a>' in reply.text()
        assert session.get(f"{service.address}tapewise/report/").status == 404
        for archive in ("example", ODD):
            reply = session.get(service.address + write_path(archive))
            assert (reply.status, reply.text()) == (200, PAGE.read_text())
            assert "script-src 'self'" in reply.headers["content-security-policy"]
        page.goto(service.address + write_path("example"))
        assert page.locator("svg").count() > 5
        # The policy of the pages leaves the report its style.
        assert page.evaluate("getComputedStyle(document.body).maxWidth") == "800px"
        sheets = PdfReader(io.BytesIO(page.pdf(prefer_css_page_size=True))).pages
        printed = flatten("".join(sheet.extract_text() for sheet in sheets))
        ends = page.locator("tbody tr:last-child td:first-child").all_inner_texts()
        for text in [*page.locator("h2").all_inner_texts(), *ends]:
            assert flatten(text) in printed


def flatten(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).split())
