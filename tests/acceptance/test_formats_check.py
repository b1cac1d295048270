"""`tapewise formats check` says at the end what it found."""

from pathlib import Path

from tests.acceptance.conftest import run_command
from tests.unit.layouts.test_json import EXAMPLE, SITE


def check(folder: Path, *lines: str):
    (folder / "mover.toml").write_text(SITE)
    (folder / "mover.log").write_text("".join(f"{line}\n" for line in lines))
    return run_command(["formats", "check", "mover.toml", "mover.log"], cwd=folder)


def test_what_a_log_lacks_is_one_list_and_the_verdict_is_last(tmp_path):
    done = check(tmp_path, EXAMPLE, EXAMPLE, "# a comment")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[-1] == "Every line is read: 2 facts, 1 ignored."
    (lacking,) = [number for number, line in enumerate(lines) if line.startswith("Not in this log: ")]
    text = " ".join(line.strip() for line in lines[lacking:-2])
    assert {"open times", "stages", "deletes"} < set(text.removeprefix("Not in this log: ").split(", "))
    assert not {"transfers", "users", "sizes", "paths"} & set(text.split(", "))
    assert "users of transfers" not in text


def test_a_line_that_is_of_no_kind_is_explained_by_its_values(tmp_path):
    done = check(tmp_path, EXAMPLE, "{")
    assert done.returncode == 1
    assert "line 2: not a line of this format\n  {\n  read: the line is not a JSON object\n" in done.stdout
    assert done.stderr == "tapewise: mover.log: 1 of 2 lines are rejected.\n"
    (tmp_path / "mover.toml").write_text(SITE)
    text = SITE[: SITE.index('[[lines]]\nname = "head"')]
    (tmp_path / "few.toml").write_text(text)
    (tmp_path / "few.log").write_text(
        EXAMPLE.replace('"read"', "5") + "\n" + EXAMPLE.replace('"type"', '"x"')
    )
    done = run_command(["formats", "check", "few.toml", "few.log"], cwd=tmp_path)
    assert "  read: what.type must be 'read' or 'readv'; the line has '5'\n" in done.stdout
    assert "  write: what.type must be 'write'; the line has none\n" in done.stdout


def test_a_line_that_is_no_row_is_explained_by_its_cells(tmp_path):
    text = """\
title = "movers that write CSV"
csv = { columns = ["ended", "way", "who"] }
examples = ["2024-03-05 09:14:22,get,kim"]
[[lines]]
name = "read"
table = "transfers"
when = { way = "get" }
[lines.columns]
interface = "mover"
operation = "get"
direction = "get"
event_at = { group = "ended", layout = "%Y-%m-%d %H:%M:%S" }
"""
    (tmp_path / "rows.toml").write_text(text)
    (tmp_path / "rows.log").write_text(
        "ended,way,who\n2024-03-05 09:14:22,get,kim\n2024-03-05 09:14:22,put,kim\n2024-03-05\n"
    )
    done = run_command(["formats", "check", "rows.toml", "rows.log"], cwd=tmp_path)
    assert "  read: way must be 'get'; the line has 'put'\n" in done.stdout
    assert "  read: the line is not a row of 3 cells\n" in done.stdout
    assert done.stderr == "tapewise: rows.log: 2 of 4 lines are rejected.\n"
