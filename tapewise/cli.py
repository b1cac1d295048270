"""`tapewise`: collects the commands of all packages and defines how errors are reported.

Exit status: 0 success, 1 user or system error, 2 wrong usage. Messages go to stderr; a traceback is
shown only with --debug.
"""

import io
import os
import sys
import traceback
from contextlib import suppress
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn, TextIO

import click
import psycopg

from tapewise.extras import explain_missing_module
from tapewise.ingest.layouts.folder import set_layouts_folder
from tapewise.schema.errors import ConfigError, QueryError, ServerError, TapewiseError
from tapewise.schema.settings import read_settings
from tapewise.schema.texts import Terminal, escape_controls
from tapewise.signals import Ended, raise_endings

# The location of each command. A package is imported only when one of its commands runs, or when all commands
# are listed. The simulator takes a second to import, and a script that runs `tapewise sql` a hundred times
# should not wait for it.
COMMANDS = {
    "ingest": "tapewise.ingest.commands.ingest:ingest",
    "detect": "tapewise.ingest.commands.detect:detect",
    "formats": "tapewise.ingest.commands.formats:formats",
    "explain": "tapewise.ingest.commands.explain:explain",
    "archives": "tapewise.ingest.commands.explain:archives",
    "sources": "tapewise.ingest.commands.retention:sources",
    "forget": "tapewise.ingest.commands.retention:forget",
    "refresh": "tapewise.ingest.commands.refresh:refresh",
    "rejects": "tapewise.ingest.commands.rejects:rejects",
    "outages": "tapewise.ingest.commands.site_events:outages",
    "config-changes": "tapewise.ingest.commands.site_events:config_changes",
    "compute-power": "tapewise.ingest.commands.compute_power:compute_power",
    "workload": "tapewise.clustering.cli:workload",
    "simulate": "tapewise.simulator.cli:simulate",
    "compare": "tapewise.simulator.comparisons_cli:compare",
    "coverage": "tapewise.coverage:coverage",
    "status": "tapewise.status:status",
    "report": "tapewise.report.command:report",
    "doctor": "tapewise.doctor:doctor",
    "sql": "tapewise.queries:sql",
    "views": "tapewise.views:views",
    "export": "tapewise.export:export",
    "db": "tapewise.schema.cli:db",
    "demo": "tapewise.demo.command:demo",
}


class LateGroup(click.Group):
    """A group that imports a command only when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click passes it
        """The names of the commands, in the order in which help shows them."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  # as above
        """Import the command of that name; None if there is no such command."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        command = getattr(import_module(module), name)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that `args` begin with. For a mistyped one, the error suggests similar names."""
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:
            # click knows only the names of imported commands.
            raise click.NoSuchCommand(error.command_name, possibilities=COMMANDS, ctx=ctx) from None


@click.group(
    cls=LateGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}
)
@click.version_option(version("tapewise"), "-V", "--version", package_name="tapewise")
@click.option(
    "--config",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Settings file.  [default: tapewise.toml in the current folder]",
)
@click.option(
    "--home", type=click.Path(file_okay=False, path_type=Path), help="Folder of the embedded PostgreSQL."
)
@click.option(
    "--layouts",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of layouts, formats of your own.  [default: layouts beside tapewise.toml]",
)
@click.option("--database-url", help="A PostgreSQL server of your own instead of the embedded one.")
@click.option("--reader-url", help="The reading role's URL on that server (for `tapewise sql`).")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.pass_context
def cli(context: click.Context, /, debug: bool, **flags: Any) -> None:
    """A warehouse for the transfer logs of mass-storage archives.

    Loads the logs into PostgreSQL, so you can query in SQL what the archive did. Settings come from these
    flags, from environment variables (TAPEWISE_HOME and so on) and from tapewise.toml, in this order of
    precedence. (--config or TAPEWISE_CONFIG names a different file.)

    \b
    Example:
      tapewise ingest --archive hpss --format hsi --timezone America/Los_Angeles hsi.log
      tapewise sql "SELECT * FROM mart.activity(period => 'day')"
    """
    context.meta["debug"] = debug
    context.obj = read_settings(**flags)
    set_layouts_folder(context.obj.layouts_folder)


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit."""
    # Shows characters that a stream cannot encode as \\xNN, and drops output to a closed stream.
    sys.stdout = sys.stdout or Path(os.devnull).open("w")  # noqa: SIM115  # for the process's life
    sys.stderr = sys.stderr or Path(os.devnull).open("w")  # noqa: SIM115  # as above
    sys.stdout, sys.stderr = _make_safe(sys.stdout), _make_safe(sys.stderr)
    raise_endings()
    wants_traceback = "--debug" in (sys.argv[1:] if arguments is None else arguments)
    try:
        cli.main(arguments, prog_name="tapewise", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt) as error:
        with suppress(OSError):  # the terminal may be gone
            click.echo("tapewise: stopped; unfinished work was discarded.", err=True)
        ending = error.__cause__ if isinstance(error, click.Abort) else error  # click wraps the exception
        sys.exit(ending.exit_status if isinstance(ending, Ended) else 1)
    except BrokenPipeError:
        sys.stderr.close()  # otherwise Python complains about the closed pipe again at exit
        sys.exit(1)
    except Exception as error:  # the last place that can say something useful
        if isinstance(error, ModuleNotFoundError):
            explained = explain_missing_module(error)
            if explained is not None:
                explained.__cause__ = error  # for --debug
                error = explained
        if wants_traceback:
            traceback.print_exception(error)
        else:
            show_error(error)
        sys.exit(getattr(error, "exit_status", 1))
    sys.exit(0)


def _make_safe(stream: TextIO) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    stream.reconfigure(errors="backslashreplace")
    return Terminal(stream) if stream.isatty() else stream


def show_error(error: BaseException) -> None:
    """Print an error to stderr: its message, then what to do about it."""
    if isinstance(error, TapewiseError):
        # The messages of these three may have several lines: one line per fault, a pointer into a query, or a
        # server's log. In other messages, a newline can only come from a name, so it is escaped.
        has_lines = isinstance(error, ConfigError | QueryError | ServerError)
        message = _escape_lines(error.message) if has_lines else escape_controls(error.message)
        stop = "" if "\n" in message or message.endswith("?") else "."
        click.echo(f"tapewise: {message}{stop}", err=True)
        if error.hint:
            click.echo(_escape_lines(error.hint), err=True)
        return
    if isinstance(error, OSError):
        said = escape_controls(f"{error.filename or 'output'}: {error.strerror or error}")
        click.echo(f"tapewise: {said}", err=True)
        return
    if isinstance(error, psycopg.Error):
        said = escape_controls(" ".join(str(error).split()))
        click.echo(f"tapewise: the database refused: {said}", err=True)
        if isinstance(error, psycopg.errors.InsufficientPrivilege):
            click.echo("The role in the configured URL may not do this; the owner may.", err=True)
        return
    click.echo(f"tapewise: unexpected {type(error).__name__}: {error}", err=True)
    click.echo("This is a bug in Tapewise: run it again with --debug and report what it prints.", err=True)


def _escape_lines(text: str) -> str:
    return "\n".join(map(escape_controls, text.split("\n")))
