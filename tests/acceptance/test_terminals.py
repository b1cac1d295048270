"""Text from a log, a file name or a user's input cannot control the terminal that shows it."""

import csv
import io
import json
import os
import pty
import re
import subprocess
from pathlib import Path

import pytest

from tapewise.schema.texts import Terminal, escape_controls
from tests.acceptance.conftest import TAPEWISE, TREE, Run

pytestmark = pytest.mark.study("tapewise")

# Sets a window title, conceals text, begins a C1 sequence, reverses the text direction and fakes a line.
HOSTILE = "\x1b]0;owned\x07\x1b[8m\x9b2J\u202egpj\u2028x"
SEEN = r"\x1b]0;owned\x07\x1b[8m\x9b2J\u202egpj\u2028x"
STEERS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
HSI = (
    "Sat Aug 10 00:12:40 2019 dtn1.example.gov {user} 6004 12059\tHL\t0\t61.25\t3665510098\t68638.4\t5"
    "\t<stdout>\t/home/p/{name}.tar.gz\t6004\n"
)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a log whose name, loaded line and rejected line are all hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    text = HSI.format(user="hsi", name=HOSTILE) + f"{HOSTILE}\n"
    (folder / f"a{HOSTILE}\nb.log").write_text(text, encoding="utf-8")
    return folder


def run_on_terminal(arguments: list[str], folder: Path) -> str:
    """Return the text that `tapewise` writes to a terminal."""
    ours, theirs = pty.openpty()
    environment = os.environ | {"PYTHONPATH": str(TREE), "COLUMNS": "1000", "PYTHONUTF8": "1"}
    with subprocess.Popen(
        [*TAPEWISE, *arguments], cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    ):
        os.close(theirs)
        written = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other side is closed
                break
            written += part
    os.close(ours)
    return written.decode().replace("\r\n", "\n")


def commands(log: str) -> list[list[str]]:
    archive = ["--archive", "hostile", "--kind", "synthetic", "--timezone", "UTC"]
    return [
        ["ingest", *archive, "--format", "hsi", log],
        ["ingest", *archive, "--format", "hsi", log + HOSTILE],
        ["explain", "line", log, "1"],
        ["explain", "line", log, "2"],
        ["rejects", "--archive", "hostile"],
        ["detect", log],
        ["report", log],
        ["sql", "SELECT path FROM mart.log_files WHERE archive = 'hostile'"],
        ["sql", f"SELECT '{HOSTILE}' AS \"{HOSTILE}\""],
        ["sql", f"SELECT '{HOSTILE}'::integer"],
        ["sql", f"SELECT \"{HOSTILE}\""],
        ["sql", f"--{HOSTILE}"],
        ["formats", "show", HOSTILE],
        ["archives", "drop", HOSTILE, "--yes"],
        ["workload", "show", HOSTILE],
        ["simulate", "show", HOSTILE],
        ["status", "--archive", HOSTILE],
        ["db", "backup", HOSTILE],
        ["db", "restore", f"no{HOSTILE}"],
        [HOSTILE],
    ]  # fmt: skip


# This takes some seconds, as there are many commands.
def test_no_command_passes_control_characters_to_the_terminal(tapewise: Run, logs: Path) -> None:
    [log] = (path.name for path in logs.iterdir())
    for arguments in commands(log):
        done = tapewise(*arguments, cwd=logs)
        written = done.stdout + done.stderr
        assert SEEN in written, arguments
        assert not STEERS.search(written), arguments
        assert "\nb.log" not in written, arguments
        assert "Traceback" not in written, arguments


def test_csv_and_json_are_escaped_only_on_a_terminal(tapewise: Run, home: Path, tmp_path: Path) -> None:
    query = f"SELECT E'a\\n{HOSTILE}' AS t"
    done = tapewise("sql", "--csv", query)
    assert list(csv.reader(io.StringIO(done.stdout, newline=""))) == [["t"], [f"a\n{HOSTILE}"]]
    assert json.loads(tapewise("sql", "--json", query).stdout) == [{"t": f"a\n{HOSTILE}"}]
    shown = run_on_terminal(["--home", str(home), "sql", "--csv", query], tmp_path)
    assert shown == rf"t\na\x0a{SEEN}".replace(r"t\n", "t\n") + "\n"
    shown = run_on_terminal(["--home", str(home), "sql", "--json", query], tmp_path)
    assert not STEERS.search(shown)
    assert json.loads(shown) == [{"t": f"a\n{HOSTILE}"}]


def test_a_traceback_is_escaped_on_a_terminal(home: Path, tmp_path: Path) -> None:
    # Python itself writes the traceback.
    shown = run_on_terminal(["--home", str(home), "--debug", "sql", f"SELECT '{HOSTILE}'::integer"], tmp_path)
    assert "Traceback" in shown
    assert SEEN in shown
    assert not STEERS.search(shown)


def test_whatever_is_written_to_a_terminal_is_escaped() -> None:
    written = io.BytesIO()
    stream = Terminal(io.TextIOWrapper(written, encoding="utf-8", errors="backslashreplace"))
    style = "\x1b[33m\x1b[1mDIFFERENT\x1b[0m\tétude\n"
    assert stream.write(style + HOSTILE + "\r\ud800") == len(style + HOSTILE) + 2
    stream.flush()
    assert written.getvalue().decode() == style + SEEN + r"\x0d\ud800"


def test_one_line_stays_one_line() -> None:
    assert escape_controls("a\tb\nc\u2029d\u2066é") == "a\tb\\x0ac\\u2029d\\u2066é"
