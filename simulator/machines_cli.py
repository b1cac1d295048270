"""`tapewise simulate machine` and `check-machine`: the files that describe machines."""

import sys
from pathlib import Path

import click

from tapewise.schema.texts import escape_controls
from tapewise.simulator.machine_descriptions import describe_machine
from tapewise.simulator.machines import bundled_machines, find_faults, find_machine, read_machine_text


@click.command(name="machine")
@click.argument("name", required=False)
def show_machine(name: str | None) -> None:
    """Show the file of the bundled machine NAME, to start your own from. Without NAME, list the machines.

    Example: tapewise simulate machine llnl-unitree-1998 > mine.toml
    """
    if name is None:
        click.echo("\n".join(bundled_machines()))
        return
    click.echo(read_machine_text(name), nl=False)


@click.command(name="check-machine")
@click.argument("file")
def check_machine(file: str) -> None:
    """Check the machine FILE: name each field that cannot be as it is, or summarise the machine.

    Example: tapewise simulate check-machine mine.toml
    """
    is_file = Path(file).exists() or file not in bundled_machines()
    faults, hint = find_faults(Path(file)) if is_file else ([], "")
    if faults:
        for fault in faults:
            click.echo(escape_controls(f"tapewise: {file}: {fault}"), err=True)
        click.echo(hint, err=True)
        sys.exit(1)
    click.echo(escape_controls(f"{file}: ok"))
    click.echo("\n".join(describe_machine(find_machine(file))))
