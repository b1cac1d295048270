"""`python -m tests.notebooks NOTEBOOK`: run a notebook's cells and write their output into it.

All cells run in one namespace, in a new folder with the examples. Only plain text output is kept.
"""

import ast
import io
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from tapewise.schema.server.embedded import EmbeddedServer

TREE = Path(__file__).resolve().parents[1]
# The home that the pages and notebooks use.
HOME = "python-home"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@contextmanager
def own_folder() -> Iterator[Path]:
    """Work in a new folder with a link to the examples and a home; at the end, stop any server there."""
    folder = Path(tempfile.mkdtemp(prefix="tapewise-notebook-"))
    folder.chmod(0o755)  # when run as root, the server's own account must get in
    (folder / "examples").symlink_to(TREE / "examples")
    before = os.environ.get("TAPEWISE_HOME")
    os.environ["TAPEWISE_HOME"] = str(folder / HOME)
    try:
        with chdir(folder):
            yield folder
    finally:
        if before is None:
            del os.environ["TAPEWISE_HOME"]
        else:
            os.environ["TAPEWISE_HOME"] = before
        EmbeddedServer(folder / HOME, 18).stop()
        shutil.rmtree(folder)


def run_cell(source: str, namespace: dict[str, Any]) -> tuple[str, str | None]:
    """Run a cell; return what it printed, and the value of its last expression as text."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    value = None
    with redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, "cell", "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), namespace)
    return printed.getvalue(), None if value is None else repr(value)


def run_notebook(notebook: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """Return the outputs of each code cell, in the form that notebooks store."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    outputs = []
    for number, cell in enumerate(find_code(notebook), 1):
        printed, value = run_cell("".join(cell["source"]), namespace)
        found: list[dict[str, Any]] = []
        if printed:
            found.append(
                {"name": "stdout", "output_type": "stream", "text": printed.splitlines(keepends=True)}
            )
        if value is not None:
            data = {"text/plain": value.splitlines(keepends=True)}
            found.append(
                {"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"}
            )
        outputs.append(found)
    return outputs


def find_code(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """The code cells of a notebook."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def main(path: Path) -> None:
    """Write the output of a notebook's cells into it."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    with own_folder():
        outputs = run_notebook(notebook)
    for number, (cell, found) in enumerate(zip(find_code(notebook), outputs, strict=True), 1):
        cell["outputs"], cell["execution_count"] = found, number
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
