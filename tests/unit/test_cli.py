"""The command line starts quickly, as each command imports only its own package."""

import os
import subprocess
import sys

import click
import pytest

from tapewise.cli import COMMANDS, cli, show_error
from tapewise.schema.errors import ConfigError, LogFileError


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_in_its_listed_module(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    assert command.name == name


def test_an_unknown_command_is_not_found() -> None:
    assert cli.get_command(click.Context(cli), "nothing") is None


def test_the_sql_command_imports_nothing_that_it_does_not_need() -> None:
    script = (
        "import click, sys; from tapewise.cli import cli; cli.get_command(click.Context(cli), 'sql');"
        "print({'polars', 'numba', 'sklearn', 'sqlalchemy', 'alembic', 'pyarrow'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_every_command_is_found_without_the_packages_of_extras() -> None:
    """Its help is shown then, and its message says which extra it needs. `tapewise compare` needs none."""
    script = (
        "import click, sys; sys.modules.update(dict.fromkeys(('numba', 'sklearn', 'duckdb', 'dask')));"
        "from tapewise.cli import cli; context = click.Context(cli);"
        "print([name for name in cli.list_commands(context) if cli.get_command(context, name) is None])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("[]\n", "", 0)


@pytest.mark.parametrize(
    ("typed", "offered"), [("tapewise coverage", "coverage"), ("tapewise sql --time", "--timezone")]
)
def test_a_shell_completes_commands_and_options(typed: str, offered: str) -> None:
    variables = {
        "_TAPEWISE_COMPLETE": "bash_complete",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(typed.count(" ")),
    }
    done = subprocess.run(
        [sys.executable, "-m", "tapewise"],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"plain,{offered}\n"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            LogFileError("a\nb\x1b[2J: is a folder", hint="one\ntwo\x07"),
            "a\\x0ab\\x1b[2J: is a folder.\none\ntwo\\x07\n",
        ),
        (ConfigError("one\ntwo\x1b"), "one\ntwo\\x1b\n"),
        (ConfigError("one: did you mean two?"), "one: did you mean two?\n"),
        (FileNotFoundError(2, "No such file", "a\nb"), "a\\x0ab: No such file\n"),
    ],
)
def test_no_name_breaks_a_line_or_controls_a_terminal(
    error: Exception, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    show_error(error)
    assert capsys.readouterr().err == f"tapewise: {said}"
