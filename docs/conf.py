"""Build the documentation as a site: `make docs-site`.

The site's sources are the whole tree, not only docs/, so that README, ARCHITECTURE and the other pages
outside docs/ are pages of the site too. A link between two pages is then the same on the site and on a code
host.
"""

import re
import shutil
from pathlib import Path

from sphinx.application import Sphinx

TREE = Path(__file__).resolve().parents[1]
# The pages outside docs/, in the order of the site's navigation.
ROOT_PAGES = ["ARCHITECTURE", "CONTRIBUTING", "CHANGELOG", "examples/README"]
# The sections of docs/ in the order of the site's navigation. docs/README.md lists the pages of each.
SECTIONS = {
    "tutorial": "Tutorial",
    "how-to": "How-to",
    "reference": "Reference",
    "explanation": "Explanation",
    "decisions": "Decisions",
}
# These pages list others, one level further down.
PARENTS = {"docs/reference/formats": "formats/", "docs/decisions/README": ""}

project = "Tapewise"
extensions = ["myst_parser"]
root_doc = "README"
include_patterns = ["README.md", "docs/**.md", *(f"{page}.md" for page in ROOT_PAGES)]
# Sphinx walks through all folders that are not excluded, and environments are large.
exclude_patterns = [
    entry.name for entry in TREE.iterdir() if entry.is_dir() and entry.name not in {"docs", "examples"}
]
myst_heading_anchors = 4
# The pages are plain Markdown. (A line that begins with % would be a comment.)
myst_disable_syntax = ["myst_line_comment", "myst_block_break", "myst_target", "myst_role"]
html_theme = "furo"
html_title = project
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_copy_source = False
html_use_index = False
html_show_copyright = False


def read_links(page: str) -> list[str]:
    """Return the pages that a page links to, as the links name them but without the suffix."""
    return re.findall(r"\]\(([^)#:]+)\.md\)", (TREE / f"{page}.md").read_text(encoding="utf-8"))


def write_toctree(pages: list[str], caption: str = "") -> str:
    """Return the directive that puts pages into the navigation without showing them in the text."""
    options = [":hidden:", *([f":caption: {caption}"] if caption else [])]
    return "\n".join(["", "```{toctree}", *options, "", *(f"/{page}" for page in pages), "```", ""])


def add_navigation(_: Sphinx, page: str, source: list[str]) -> None:
    """Append the navigation to a page. (Code hosts would show it as a code block if it were in the file.)"""
    if page == root_doc:
        links = read_links("docs/README")
        source[0] += write_toctree(["docs/README"])
        for folder, caption in SECTIONS.items():
            pages = [f"docs/{link}" for link in links if re.fullmatch(f"{folder}/[^/]+", link)]
            source[0] += write_toctree(pages, caption)
        source[0] += write_toctree(ROOT_PAGES, "The project")
    elif page in PARENTS:
        folder = Path(page).parent
        children = [link for link in read_links(page) if re.fullmatch(f"{PARENTS[page]}[^/.]+", link)]
        source[0] += write_toctree([f"{folder}/{link}" for link in children])


def write_index(app: Sphinx, error: Exception | None) -> None:
    """Make the README the page that a server shows for the site's folder."""
    if not error:
        shutil.copyfile(app.outdir / "README.html", app.outdir / "index.html")


def setup(app: Sphinx) -> None:
    """Connect the functions above; Sphinx calls this after reading this file."""
    app.connect("source-read", add_navigation)
    app.connect("build-finished", write_index)
