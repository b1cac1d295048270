"""The report of an archive, as the pages lead to it."""

import html
import io
import os
import re
import shutil
import unicodedata
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

import pytest
from pypdf import PdfReader

from tapewise.dashboards.browser import open_browser
from tapewise.dashboards.service import Service
from tapewise.report.kept_pages import name_file
from tests.dashboards.api import Api
from tests.dashboards.assets import CHARTS
from tests.dashboards.test_what_if import ask

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


def test_each_page_leads_to_the_report_of_its_archive(viewer: Api, folder: Path) -> None:
    assert "archive_shown" in CHARTS
    (row,) = ask(viewer, "archive_shown", None)
    link = re.fullmatch(r'<a href="/(.*)">of 2001-09-08 18:46, [\d,]+\.\d days old</a>', row["report"])
    assert link is not None, row
    (path := folder / name_file("example")).touch()
    (row,) = ask(viewer, "archive_shown", None, force=False)  # not from the cache
    assert " s old</a>" in row["report"]
    reply = viewer.get(link[1])
    assert (reply.status, reply.text) == (200, path.read_text())
    assert viewer.get(write_path(ODD)).text == PAGE.read_text()


@pytest.mark.parametrize(
    ("archive", "word"),
    [
        ("example-on-llnl", "example-on-llnl"),
        ("a 'b' <script>", """'a '"'"'b'"'"' <script>'"""),
        ("../outside", "../outside"),
        ("..%2foutside", "'..%2foutside'"),
        ("secret.html", "secret.html"),
        ("x" * 300, "x" * 300),
        ("a\0b", "'a\0b'"),
    ],
)
def test_without_a_report_the_command_is_shown(viewer: Api, folder: Path, archive: str, word: str) -> None:
    reply = viewer.get(write_path(archive))
    assert reply.status == 404
    shown = html.escape(word).replace("&#x27;", "&#39;").replace("&quot;", "&#34;")
    assert f"<code>tapewise report --for-dashboards --archive {shown}</code>" in reply.text
    assert viewer.get("tapewise/report/").status == 404


def test_a_report_is_shown_and_prints_whole(service: Service, logins: dict[str, str], folder: Path) -> None:
    with open_browser(service.address, "viewer", logins["viewer"]) as browser:
        page = browser.page
        page.goto(service.address + write_path("example"))
        # The policy of the pages leaves the report its style.
        assert page.locator("svg").count() > 5
        assert page.evaluate("getComputedStyle(document.querySelector('.kicker')).textTransform") != ""
        sheets = PdfReader(io.BytesIO(page.pdf(prefer_css_page_size=True))).pages
        printed = flatten("".join(sheet.extract_text() for sheet in sheets))
        ends = page.locator("tbody tr:last-child td:first-child").all_inner_texts()
        for text in [*page.locator("h2").all_inner_texts(), *ends]:
            assert flatten(text) in printed


def flatten(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).split())
