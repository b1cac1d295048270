"""`tapewise export`: an archive's facts and requests as Parquet files."""

from datetime import date
from pathlib import Path
from typing import Any

import click

from tapewise.export_folders import ExportRequest
from tapewise.exports import export_archive
from tapewise.readers import WITH_NAMES, as_option, open_reader
from tapewise.schema.moments import YEARS
from tapewise.schema.settings import Settings
from tapewise.schema.texts import escape_controls, say_count


class _Month(click.ParamType[date]):
    """A month, which becomes the date of its first day."""

    name = "month"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> date:
        """Parse the month; anything else is wrong usage."""
        if isinstance(value, date):
            return value
        try:
            month = date.fromisoformat(f"{value}-01")
        except ValueError:
            self.fail(f"'{value}' is not a month: an export has whole months, such as 1998-10", param, ctx)
        if month.year not in YEARS:
            self.fail(f"'{value}' is not between {YEARS.start} and {YEARS.stop - 1}", param, ctx)
        return month


@click.command()
@click.option("--archive", required=True, help="The archive to export.")
@click.option(
    "--to",
    "folder",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder to write: a new or empty one, or an export of this archive, which is refreshed.",
)
@click.option(
    "--since", type=_Month(), help="Only this month (such as 1998-10) and later ones. Months are in UTC."
)
@click.option("--until", type=_Month(), help="Only months before this one.")
@as_option
@click.pass_obj
def export(
    settings: Settings, archive: str, folder: Path, since: date | None, until: date | None, read_as: str
) -> None:
    """Write the facts and requests of an archive as Parquet, one file per table and month.

    Each table is a view of mart, with all its columns. If the folder already holds an export of the archive,
    the selected months are replaced and all others are kept. The files are moved into place together at the
    end, so an export that fails changes nothing. With --as names, the names of users and files are written
    too.

    \b
    Examples:
      tapewise export --archive hpss --to hpss-parquet
      tapewise export --archive hpss --to hpss-parquet --since 2026-10
    """
    if since is not None and until is not None and until <= since:
        raise click.BadParameter("must be later than --since", param_hint="'--until'")
    request = ExportRequest(archive, since, until, with_names=read_as == WITH_NAMES)
    with open_reader(settings, read_as, autocommit=True) as connection:
        written = export_archive(connection, request, folder, _report)
    row_count = sum(map(written.count_rows, written.row_counts))
    said = f"{say_count(row_count, 'rows')} written" if row_count else "the selected months have no rows"
    click.echo(f"{escape_controls(str(folder))}: {said}")
    for table, counts in written.row_counts.items():
        if counts:
            rows = say_count(written.count_rows(table), "rows")
            click.echo(f"  {table}: {rows} in {say_count(len(counts), 'files')}")
    if written.removed_count:
        click.echo(
            f"  removed, because they have no rows any more: {say_count(written.removed_count, 'files')}"
        )


def _report(month: str, row_count: int) -> None:
    click.echo(f"{month}: {say_count(row_count, 'rows')}", err=True)
