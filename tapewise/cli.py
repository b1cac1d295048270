"""`tapewise`: joins the rooms' commands and says in one place how errors are told.

Exit status: 0 done, 1 the user's or the machine's error, 2 wrong usage. Messages go to stderr; a
traceback is shown only with --debug.
"""

import io
import os
import sys
import traceback
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn

import click
import psycopg

import schema

# `schema` is also a package of the public index, which would be imported instead of ours if it were
# installed and came first.
if Path(schema.__file__ or "").parent.parent != Path(__file__).parent.parent:
    sys.exit(
        f"tapewise: Python finds another package called 'schema' first ({schema.__file__}).\n"
        "Install Tapewise in an environment of its own."
    )

from clustering.cli import workload  # after the check
from ingest.cli import archives, explain, formats
from ingest.ingest_cli import ingest
from ingest.site_events_cli import config_changes, outages
from schema.cli import db
from schema.errors import TapewiseError
from schema.settings import read_settings
from simulator.cli import simulate
from tapewise.demo.command import demo
from tapewise.doctor import doctor
from tapewise.queries import sql
from tapewise.status import status


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(version("tapewise"), package_name="tapewise")
@click.option(
    "--config",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File of settings.  [default: tapewise.toml in the current folder]",
)
@click.option(
    "--home", type=click.Path(file_okay=False, path_type=Path), help="Folder of the embedded PostgreSQL."
)
@click.option("--database-url", help="A PostgreSQL server of your own instead of the embedded one.")
@click.option("--reader-url", help="How the reading role logs in to that server (for `tapewise sql`).")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.pass_context
def cli(context: click.Context, /, debug: bool, **flags: Any) -> None:
    """A warehouse for the transfer logs of mass-storage archives.

    Reads the logs into PostgreSQL and answers in SQL what the archive did. Settings come from these
    flags, from TAPEWISE_HOME and so on in the environment, or from tapewise.toml, in this order.
    (--config, or TAPEWISE_CONFIG, names another file.)

    \b
    Example:
      tapewise ingest --archive hpss --format hsi --timezone America/Los_Angeles hsi.log
      tapewise sql "SELECT * FROM mart.activity WHERE period = 'day'"
    """
    context.meta["debug"] = debug
    context.obj = read_settings(**flags)


for command in (
    ingest,
    formats,
    explain,
    archives,
    outages,
    config_changes,
    workload,
    simulate,
    status,
    doctor,
    sql,
    db,
    demo,
):
    cli.add_command(command)


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit."""
    # A terminal of another encoding shows \\xNN for what it cannot, and a closed output takes everything.
    sys.stdout = sys.stdout or Path(os.devnull).open("w")  # noqa: SIM115  # for the process's life
    sys.stderr = sys.stderr or Path(os.devnull).open("w")  # noqa: SIM115  # as above
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    wants_traceback = "--debug" in (sys.argv[1:] if arguments is None else arguments)
    try:
        cli.main(arguments, prog_name="tapewise", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("tapewise: stopped; what was not finished is as it was before.", err=True)
        sys.exit(1)
    except BrokenPipeError:
        sys.stderr.close()  # or Python complains of the closed pipe once more at exit
        sys.exit(1)
    except Exception as error:  # the last place that can say something useful
        if wants_traceback:
            traceback.print_exception(error)
        else:
            tell(error)
        sys.exit(getattr(error, "exit_status", 1))
    sys.exit(0)


def tell(error: BaseException) -> None:
    """Print an error to stderr: its message, then what to do."""
    if isinstance(error, TapewiseError):
        # A message of several lines ends in a picture of the place, not in a sentence.
        click.echo(f"tapewise: {error.message}{'' if chr(10) in error.message else '.'}", err=True)
        if error.hint:
            click.echo(error.hint, err=True)
        return
    if isinstance(error, OSError):
        click.echo(f"tapewise: {error.filename or 'output'}: {error.strerror or error}", err=True)
        return
    if isinstance(error, psycopg.Error):
        click.echo(f"tapewise: the database refused: {' '.join(str(error).split())}", err=True)
        if isinstance(error, psycopg.errors.InsufficientPrivilege):
            click.echo("The role that the settings' URL logs in as may not do this; the owner may.", err=True)
        return
    click.echo(f"tapewise: unexpected {type(error).__name__}: {error}", err=True)
    click.echo("This is a fault of Tapewise: run it again with --debug and report what it prints.", err=True)
