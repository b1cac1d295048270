"""`tapewise formats`: the formats that can be read, and the records that a layout makes from a log."""

import json
import textwrap
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import click

from tapewise.ingest.commands.paths import LOG_PATH
from tapewise.ingest.detection.examples import EXAMPLE_DATE, read_examples
from tapewise.ingest.detection.layout_checks import LayoutCheck, check_log
from tapewise.ingest.formats.registry import find_format, list_formats
from tapewise.ingest.layouts.columns import kind_of
from tapewise.ingest.layouts.files import find_layout, show_layout
from tapewise.ingest.reading.log_dates import find_log_date
from tapewise.ingest.sources.coverage_facts import (
    SIGNS,
    Feed,
    describe_lacking,
    find_held,
    judge_views,
)
from tapewise.schema.errors import FormatError, LogFileError
from tapewise.schema.moments import check_timezone
from tapewise.schema.texts import escape_controls


class _Formats(click.Group):
    """A group in which `tapewise formats NAME` means `tapewise formats lines NAME`."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that `args` name; a format's name alone means `lines`."""
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = ["lines", *args]
        return super().resolve_command(ctx, args)


@click.group(cls=_Formats, invoke_without_command=True)
@click.pass_context
def formats(context: click.Context) -> None:
    """List the log formats, show one, or check a layout (a format of your own, described in a TOML file).

    \b
    Example:
      tapewise formats
      tapewise formats hsi
      tapewise formats check site.toml site.log
    """
    if context.invoked_subcommand is None:
        context.invoke(list_command)


@formats.command(name="list")
def list_command() -> None:
    """List the log formats.

    Example: tapewise formats list
    """
    formats = list_formats()
    width = max(map(len, formats))
    for log_format in formats.values():
        click.echo(f"{log_format.name:<{width}}  {log_format.title}")
    click.echo("\n`tapewise formats NAME` shows a format's lines and the records they become.")


@formats.command()
@click.argument("name")
def lines(name: str) -> None:
    """Show example lines of format NAME and the records they become. NAME may be the path of a layout file.

    Example: tapewise formats lines hsi
    """
    log_format = find_format(name)
    click.echo(
        f"{log_format.name}: {log_format.title} (version {log_format.version}; times read as UTC"
        + (f", as of {EXAMPLE_DATE}" if log_format.is_dated_by_file else "")
        + " here)"
    )
    for example, facts in read_examples(log_format):
        click.echo(f"\n{example}")
        for number, fact in enumerate(facts):
            if number:
                click.echo("    and")
            for field, value in fact.items():
                click.echo(f"    {field:<22} {value}")


@formats.command()
@click.argument("name")
def show(name: str) -> None:
    """Print the layout of format NAME as a TOML file, on which a site can base its own layout.

    Example: tapewise formats show xferlog > site.toml
    """
    if find_layout(find_format(name)) is None:
        shown = ", ".join(each.name for each in list_formats().values() if find_layout(each))
        raise FormatError(f"{name} is not defined by a layout", hint=f"Those that are: {shown}.")
    own = Path(name)
    click.echo(own.read_text(encoding="utf-8") if own.is_file() else show_layout(name), nl=False)


@formats.command()
@click.argument("layout")
@click.argument("log", type=LOG_PATH)
@click.option("--timezone", default="UTC", show_default=True, help="The time zone of the log's times.")
@click.option(
    "--date",
    "log_date",
    type=click.DateTime(["%Y-%m-%d"]),
    help="The date to use when the lines carry none.  [default: the date in the file's name]",
)
@click.option(
    "--failed",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    help="How many rejected lines to explain.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def check(
    layout: str, log: Path, timezone: str, log_date: datetime | None, failed: int, as_json: bool
) -> None:
    """Read LOG with LAYOUT (a TOML file) and show the result; nothing is loaded.

    Shows how many lines match each pattern, which fields are filled, which views of mart the log feeds, and
    how far each pattern matches the rejected lines. With --json, each view that is not fed has the
    reason. The exit status is 1 if any line is rejected.

    Example: tapewise formats check site.toml site.log
    """
    log_format = find_format(layout)
    day = log_date.date() if log_date else None
    if log_format.is_dated_by_file and day is None:
        day = find_log_date(log, log_format).day
    found = check_log(log_format, log, check_timezone(timezone), day, failed)
    there = {
        table: {name for name, field in fields.items() if field.count}
        for table, fields in found.fields.items()
    }
    views = judge_views(there, is_of_parts=log_format.is_of_parts)
    if as_json:
        described = {"format": log_format.name, "views": [asdict(view) for view in views]}
        click.echo(json.dumps(asdict(found) | described, default=str))
    else:
        held = find_held(there, is_of_parts=log_format.is_of_parts)
        _print_check(found, log, views, describe_lacking(SIGNS.keys() - held))
    if found.rejected:
        raise LogFileError(f"{log}: {found.rejected.total():,} of {found.line_count:,} lines are rejected")
    if not found.tables:
        raise LogFileError(f"{log}: none of its lines is a fact")
    if not as_json:
        click.echo(
            f"\nEvery line is read: {found.tables.total():,} facts, {found.ignored.total():,} ignored."
        )


def _print_check(found: LayoutCheck, log: Path, views: list[Feed], lacking: list[str]) -> None:
    click.echo(f"{escape_controls(str(log))}: {found.line_count:,} lines")
    for name, count in found.patterns.items():
        click.echo(f"  {count:,} match {name}")
    for what, counter in (("ignored", found.ignored), ("rejected", found.rejected)):
        for reason, count in counter.most_common():
            click.echo(f"  {count:,} {what}: {reason}")
    for table, fields in found.fields.items():
        click.echo(f"\n{found.tables[table]:,} {table.replace('_', ' ')}, with")
        for name, field in fields.items():
            if field.count:
                samples = ", ".join(map(str, field.samples))
                click.echo(f"  {name:<22} {field.count:>9,}  {escape_controls(samples)}".rstrip())
        absent = [name for name, field in fields.items() if not field.count and kind_of(name) != "flag"]
        if absent:
            click.echo(f"  never: {', '.join(absent)}")
    click.echo("\nViews of mart")
    for state, label in (("fed", "fed"), ("partly", "fed in part")):
        names = [each.view for each in views if each.state == state]
        if names:
            _print_list(label, names)
    if lacking:
        click.echo()
        _print_list("Not in this log", lacking, indent="")
    for line in found.failed:
        click.echo(f"\nline {line.line_number:,}: {line.reason}")
        click.echo(f"  {escape_controls(line.text[:200])}")
        for hint in line.hints:
            click.echo(f"  {escape_controls(hint)}")


def _print_list(label: str, names: list[str], indent: str = "  ") -> None:
    text = f"{label}: {', '.join(names)}"
    click.echo(textwrap.fill(text, 110, initial_indent=indent, subsequent_indent=f"{indent}  "))
