"""Runs the examples of README.md and docs/, and asserts that they print what the page shows.

A block fenced as `console` has commands after `$ ` (continued after `> `) and their output. A line `...`
stands for any number of lines, and `...` within a line for any text. A block fenced as `console needs
PACKAGE` runs only where that package is installed. The blocks of a page run in order, in a folder with the
examples. Each page has its own home. Instead of running a page's first `make demo`, the tests copy the
demo's home and output, because `.ci/run` already runs the demo as typed. On pages other than the README,
commands that do not need a shell run in a fork.
"""

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
from _pytest.mark import ParameterSet

from tapewise.cli import cli
from tests.forks import run_forked

TREE = Path(__file__).resolve().parents[2]
PAGES = [TREE / "README.md", *sorted((TREE / "docs").rglob("*.md"))]
RUN_PAGES = [page for page in PAGES if "```console" in page.read_text()]


@dataclass(frozen=True)
class Example:
    command: str
    expected: list[str]


# Newcomers type this page's commands first, so these run exactly as typed, imports included.
AS_TYPED = {TREE / "README.md"}
# A command in which a shell would interpret nothing but quotes and the file for the output.
PLAIN = re.compile(
    r"""(?P<command>tapewise\ (?:
        [^|<>&;()$`*?~\#{\[\n\\"']  # not in quotes
        | "[^"$`\\]*"
        | '[^']*'
    )*?)(\ >\ (?P<file>[\w./-]+))?""",
    re.VERBOSE,
)
DEMO = re.compile(r"(make|tapewise) demo(?P<quiet> > /dev/null)?")


def read_examples(text: str) -> Iterator[Example]:
    fence = r"^```console(?: needs (\w+))?\n(.*?)^```"
    for package, block in re.findall(fence, text, flags=re.MULTILINE | re.DOTALL):
        if package and importlib.util.find_spec(package) is None:
            continue
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *output = re.sub(r"\\\n\s*", "", part).splitlines()
            while output and (output[0] == ">" or output[0].startswith("> ")):
                command += f"\n{output.pop(0)[2:]}"
            yield Example(command, output)


def matches(expected: list[str], printed: list[str]) -> bool:
    pattern = ""
    for line in expected:
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*?".join(re.escape(piece) for piece in line.rstrip().split("...")) + r"[ ]*\n"
    return re.fullmatch(pattern, "".join(f"{line.rstrip()}\n" for line in printed)) is not None


def take_turns(page: Path) -> ParameterSet:
    """Return the page as a parameter; all but what newcomers read first are studies of the programs."""
    name = str(page.relative_to(TREE))
    is_first = page in AS_TYPED or page.parent.name == "tutorial"
    code = (name, "clustering", "examples", "ingest", "schema", "simulator", "sql", "tapewise")
    return pytest.param(page, id=name, marks=() if is_first else pytest.mark.study(*code))


@pytest.mark.parametrize("page", [take_turns(page) for page in RUN_PAGES])
def test_the_examples_of_a_page_print_what_it_shows(page: Path, request: pytest.FixtureRequest):
    folder = Path(tempfile.mkdtemp(prefix="tapewise-docs-"))
    folder.chmod(0o755)  # when run as root, the server's own account must get in
    for name in ("Makefile", "requirements", "pyproject.toml", "examples", "docker", "docker-compose.yml"):
        (folder / name).symlink_to(TREE / name)
    # To `make`, this is an up-to-date environment; its `tapewise` runs with this interpreter.
    programs = folder / ".venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "tapewise").write_text(
        f"#!/bin/sh\nPYTHONPATH='{TREE}' exec '{sys.executable}' -c "
        '"import sys; sys.argv[0] = \'.venv/bin/tapewise\'; from tapewise.cli import main; main()" "$@"\n'
    )
    (programs / "tapewise").chmod(0o755)
    (programs / "python").write_text(f"#!/bin/sh\nPYTHONPATH='{TREE}' exec '{sys.executable}' \"$@\"\n")
    (programs / "python").chmod(0o755)
    for stamp in ("runtime.stamp", "dev.stamp"):
        (folder / ".venv" / stamp).touch()
    environment = os.environ | {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "TAPEWISE_HOME": str(folder / ".demo"),
    }
    try:
        for example in read_examples(page.read_text()):
            if not (folder / ".demo").exists() and (demo := DEMO.fullmatch(example.command)):
                home = request.getfixturevalue("demo_home")
                subprocess.run(["cp", "-a", home, folder / ".demo"], check=True)
                output = "" if demo["quiet"] else (home / "demo.txt").read_text()
                done = subprocess.CompletedProcess(example.command, 0, output)
            elif page not in AS_TYPED and (plain := PLAIN.fullmatch(example.command)):
                words = shlex.split(plain["command"])[1:]
                as_here = environment | {"PYTHONPATH": str(TREE)}
                done = run_forked(words, folder, as_here, is_merged=plain["file"] is None)
                if plain["file"]:
                    (folder / plain["file"]).write_text(done.stdout)
                    done.stdout = done.stderr
            else:
                done = subprocess.run(
                    ["bash", "-c", example.command],
                    cwd=folder,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    check=False,
                )
            # Commands print absolute paths here, but the page shows paths relative to the tree.
            printed = done.stdout.replace(f"{TREE}/", "").replace(f"{folder}/", "").splitlines()
            assert matches(example.expected, printed), (
                f"$ {example.command}\nprinted\n" + "\n".join(printed) + "\nwhere the page shows\n"
                + "\n".join(example.expected)
            )  # fmt: skip
    finally:
        subprocess.run([programs / "tapewise", "db", "stop"], cwd=folder, env=environment, check=True)
        shutil.rmtree(folder)


def test_the_comparison_of_output_can_fail():
    assert matches(["a", "...", "d ... f"], ["a", "b", "c", "d e f  "])
    assert matches(["..."], [])
    assert not matches(["a"], ["b"])
    assert not matches(["a"], ["a", "b"])
    assert not matches(["a", "...", "c"], ["a", "b"])


def test_a_block_that_needs_a_package_runs_where_it_is_installed():
    text = "```console\n$ a\nb\n```\n```console needs {}\n$ c\n```\n"
    assert list(read_examples(text.format("json"))) == [Example("a", ["b"]), Example("c", [])]
    assert list(read_examples(text.format("no_such_package"))) == [Example("a", ["b"])]


def test_what_a_shell_would_interpret_is_left_to_it():
    for command in (
        "tapewise sql \"SELECT * FROM f(n => '{a}')\n;\"",
        "tapewise status --json",
        "tapewise x 'a$b'",
    ):
        assert PLAIN.fullmatch(command), command
    to_file = PLAIN.fullmatch('tapewise sql "SELECT 1 > 2" > a.txt')
    assert to_file and to_file.group("command", "file") == ('tapewise sql "SELECT 1 > 2"', "a.txt")
    for command in (
        "tapewise a > b > c",
        "tapewise a | b",
        'tapewise "$HOME"',
        "tapewise a*",
        "tapewise (",
        "make demo",
    ):
        assert not PLAIN.fullmatch(command), command


def test_readme_and_tutorial_have_examples():
    tutorial = TREE / "docs" / "tutorial"
    assert set(RUN_PAGES) >= {*AS_TYPED, tutorial / "demo.md", tutorial / "first-hour.md"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(TREE)))
def test_links_between_pages_have_a_target(page: Path):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), target


# A date or time in SQL, and the ways to give its zone.
SQL_TIME = re.compile(r"'(?P<time>\d{4}-\d\d-\d\d[^']*)'")
HAS_ZONE = re.compile(r"\d\d:\d\d\S*[+-]\d\d(:\d\d)?$|Z$| UTC$| \w+/\w+$")


def find_zoneless(text: str) -> list[str]:
    """Find the times in a page's SQL that have no zone, and would be read in the session's zone."""
    statements = re.findall(r"^```sql\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    commands = re.findall(r'tapewise (?:-\S+ \S+ )*sql [^"]*"[^"]*"', text)
    statements += [command for command in commands if "--timezone" not in command]
    times = (found["time"] for statement in statements for found in SQL_TIME.finditer(statement))
    return [time for time in times if not HAS_ZONE.search(time)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(TREE)))
def test_every_date_in_an_example_has_a_zone(page: Path):
    assert find_zoneless(page.read_text()) == []


def test_a_date_without_a_zone_can_be_found():
    assert find_zoneless("```sql\nSELECT f(since => '1998-04-02')\n```\n") == ["1998-04-02"]
    assert find_zoneless("    tapewise sql \"SELECT f('1998-04-02 08:00')\"") == ["1998-04-02 08:00"]
    assert find_zoneless("tapewise sql --timezone UTC \"SELECT f('1998-04-02')\"") == []
    assert (
        find_zoneless("```sql\nSELECT f('1998-04-02 America/Los_Angeles', '1998-04-02 00:00-07')\n```\n")
        == []
    )


def test_every_command_and_option_is_in_the_reference():
    reference = (TREE / "docs" / "reference" / "commands.md").read_text()

    names: dict[int, str] = {}

    def check(command: click.Command, name: str) -> None:
        if isinstance(command, click.Group):
            context = click.Context(command)
            for child_name in command.list_commands(context):
                check(command.get_command(context, child_name), f"{name} {child_name}")
        else:
            section = re.search(rf"^## `{name}`\n(.*?)(?=^## |\Z)", reference, flags=re.MULTILINE | re.DOTALL)
            assert section, f"docs/reference/commands.md has no section `{name}`"
            if id(command) in names:  # the same command under another name
                assert f"The same command as [`{names[id(command)]}`]" in section[1], name
                return
            names[id(command)] = name
            for parameter in command.params:
                shown = parameter.opts[0] if isinstance(parameter, click.Option) else parameter.name.upper()
                assert shown in section[1], f"{shown} of {name}"

    check(cli, "tapewise")


def test_the_generated_pages_are_up_to_date():
    spec = importlib.util.spec_from_file_location("docs_generate", TREE / "docs" / "generate.py")
    assert spec and spec.loader
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    for page, describe in generate.PAGES.items():
        assert (generate.FOLDER / page).read_text() == describe(), f"{page} is old: run `make docs`"
