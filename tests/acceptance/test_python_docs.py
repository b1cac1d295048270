"""The Python code in README.md and docs/ runs, and the notebook prints what it shows."""

import contextlib
import io
import json
from pathlib import Path

import pytest

from tests.notebooks import BLOCK, TREE, find_code, own_folder, run_cell, run_notebook

pytestmark = pytest.mark.study("docs", "sql", "tapewise")

NOTEBOOK = TREE / "docs" / "how-to" / "python.ipynb"
PAGES = [TREE / "README.md", *sorted((TREE / "docs").rglob("*.md"))]
RUN_PAGES = [page for page in PAGES if BLOCK.search(page.read_text())]


def test_the_notebook_prints_what_it_shows():
    notebook = json.loads(NOTEBOOK.read_text())
    with own_folder():
        outputs = run_notebook(notebook)
    assert len(outputs) > 9
    for cell, found in zip(find_code(notebook), outputs, strict=True):
        assert found == cell["outputs"], "".join(cell["source"])


@pytest.mark.parametrize("page", RUN_PAGES, ids=lambda page: str(page.relative_to(TREE)))
def test_the_python_of_a_page_runs(page: Path):
    namespace: dict[str, object] = {}
    with own_folder() as folder:
        make_trace(folder)
        for block in BLOCK.findall(page.read_text()):
            with contextlib.redirect_stderr(io.StringIO()):
                run_cell(block, namespace)
    assert "tapewise" in namespace


def make_trace(folder: Path) -> None:
    """Write the trace that docs/how-to/take-the-workload-away.md exports and then runs."""
    import polars as pl  # noqa: PLC0415

    trace = {"submitted_s": [0.0], "direction": ["get"], "user": [1], "file": [1], "size_bytes": [10**6]}
    pl.DataFrame(trace | {"origin": ["disk"]}).write_parquet(folder / "may.parquet")


def test_the_pages_about_python_are_run():
    how_to = TREE / "docs" / "how-to"
    assert set(RUN_PAGES) >= {TREE / "README.md", how_to / "python.md", how_to / "take-the-workload-away.md"}
