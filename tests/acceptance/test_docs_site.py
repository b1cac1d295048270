"""Builds the documentation's site and asserts that it is complete and fetches nothing from other sites."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

pytestmark = pytest.mark.study("docs")

TREE = Path(__file__).resolve().parents[2]
# Attributes whose targets a browser fetches without a click
FETCHING = {
    "audio": {"src"},
    "embed": {"src"},
    "iframe": {"src"},
    "img": {"src", "srcset"},
    "link": {"href"},
    "object": {"data"},
    "script": {"src"},
    "source": {"src", "srcset"},
    "video": {"src", "poster"},
}
EXTERNAL = re.compile(r"\s*(https?:)?//", re.IGNORECASE)


class References(HTMLParser):
    """Collects what a page fetches and where its links lead."""

    def __init__(self):
        super().__init__()
        self.fetched: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]):
        for name, value in attrs:
            if name in FETCHING.get(tag, ()):
                self.fetched.append(value or "")
            elif (tag, name) == ("a", "href"):
                self.links.append(value or "")
            elif name == "id":
                self.anchors.add(value or "")


def read_references(html: str) -> References:
    references = References()
    references.feed(html)
    return references


def find_fetched_by_css(text: str) -> list[str]:
    return re.findall(r"url\(\s*[\"']?([^\"')]*)", text) + re.findall(r"@import\s+[\"']([^\"']*)", text)


def build(tree: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """Run the recipe of `make docs-site` on a tree, with this interpreter."""
    recipe = re.search(
        r"^docs-site:.*\n(?:\t.*\n)*?\t\$\(BIN\)/python (-m sphinx .*)\n",
        (TREE / "Makefile").read_text(),
        re.M,
    )
    assert recipe, "the Makefile has no recipe for the site"
    arguments = (
        recipe[1].replace("build/site-doctrees", f"{site}-doctrees").replace("build/site", str(site)).split()
    )
    return subprocess.run([sys.executable, *arguments], cwd=tree, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs-site") / "site"
    done = build(TREE, folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_reading_the_site_fetches_nothing_from_elsewhere(site: Path):
    pages = list(site.rglob("*.html"))
    styles = list(site.rglob("*.css"))
    assert len(pages) > 60
    assert styles
    fetched = [(page.name, url) for page in pages for url in read_references(page.read_text()).fetched]
    fetched += [(style.name, url) for style in styles for url in find_fetched_by_css(style.read_text())]
    assert len(fetched) > len(pages)
    assert [each for each in fetched if EXTERNAL.match(each[1])] == []


def test_what_a_page_fetches_is_found():
    page = '<link href="https://a.example/x.css"><img src=//b.example/y.png><a href="https://c.example">c</a>'
    references = read_references(page)
    assert [url for url in references.fetched if EXTERNAL.match(url)] == [
        "https://a.example/x.css",
        "//b.example/y.png",
    ]
    assert references.links == ["https://c.example"]
    assert find_fetched_by_css(
        "@import 'https://a.example/f.css'; b { src: url(\"//b.example/f.woff\") }"
    ) == [
        "//b.example/f.woff",
        "https://a.example/f.css",
    ]


def test_the_navigation_has_the_sections_in_the_order_of_a_readers_questions(site: Path):
    captions = re.findall(r'<span class="caption-text">(.*?)</span>', (site / "index.html").read_text())
    assert captions == ["Tutorial", "How-to", "Reference", "Explanation", "Decisions", "The project"]


def test_every_page_of_the_tree_is_on_the_site_and_in_its_navigation(site: Path):
    sources = [*TREE.glob("docs/**/*.md"), *TREE.glob("*.md"), TREE / "examples" / "README.md"]
    index = read_references((site / "index.html").read_text())
    linked = {link.split("#")[0] for link in index.links}
    for source in sources:
        page = source.relative_to(TREE).with_suffix(".html")
        assert (site / page).exists(), page
        assert str(page) in linked or page.name == "README.html", page


def test_every_link_within_the_site_has_a_target(site: Path):
    references = {page: read_references(page.read_text()) for page in site.rglob("*.html")}
    broken = []
    for page, found in references.items():
        for link in [*found.links, *found.fetched]:
            if EXTERNAL.match(link) or ":" in link.split("/")[0]:
                continue
            path, _, anchor = link.partition("#")
            target = Path(os.path.normpath(page.parent / path.split("?")[0])) if path else page
            if not target.exists() or (
                anchor and target in references and anchor not in references[target].anchors
            ):
                broken.append((page.name, link))
    assert broken == []


@pytest.fixture
def copied_tree(tmp_path: Path) -> Iterator[Path]:
    """Copy the site's sources, so that a test may change the pages."""
    tree = tmp_path / "tree"
    shutil.copytree(TREE / "docs", tree / "docs")
    (tree / "examples").mkdir()
    for page in [*TREE.glob("*.md"), TREE / "examples" / "README.md"]:
        shutil.copyfile(page, tree / page.relative_to(TREE))
    (tree / "docs" / "reference" / "mart.md").write_text("# Views and functions\n")  # the longest page by far
    yield tree
    shutil.rmtree(tree)


def test_a_broken_link_and_a_page_that_is_not_listed_are_errors(copied_tree: Path, tmp_path: Path):
    page = copied_tree / "docs" / "how-to" / "back-up.md"
    # In MyST's own dialect, the second line would be a comment.
    page.write_text(page.read_text() + "\n[a](../nowhere.md), [b](compose.md#no-such-heading): 2\n% of it\n")
    (copied_tree / "docs" / "how-to" / "lost.md").write_text("# Lost\n")
    done = build(copied_tree, tmp_path / "site")
    assert done.returncode != 0
    assert "nowhere.md" in done.stderr
    assert "no-such-heading" in done.stderr
    assert re.search(r"lost\.md: WARNING: document isn't included in any toctree", done.stderr)
    assert "% of it" in (tmp_path / "site" / "docs" / "how-to" / "back-up.html").read_text()
