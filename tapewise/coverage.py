"""`tapewise coverage`: which views of `mart` an archive's logs feed, and what they lack for the others."""

import json
from contextlib import closing

import click

from tapewise.schema.database import Role, open_warehouse
from tapewise.schema.errors import LookupFailedError
from tapewise.schema.settings import Settings
from tapewise.schema.tables.upgrade import open_ready_warehouse
from tapewise.schema.texts import escape_controls

STATES = ("fed", "partly", "not")


@click.command()
@click.option("--archive", help="Only this archive.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per view, each on its own line.")
@click.pass_obj
def coverage(settings: Settings, archive: str | None, as_json: bool) -> None:
    """Show which views of mart an archive's logs feed.

    Each view or function of mart is fed, partly fed (some columns or rows are missing) or not fed, and the
    list says what the logs lack for it. Views of calculated or simulated values are left out, and so are
    views of data that people entered.

    Example: tapewise coverage --archive hpss
    """
    # As in `sql`: an analyst may have only the reader's URL, and the reading role cannot see the revision.
    opened = open_warehouse if settings.reader_url else open_ready_warehouse
    with opened(settings) as warehouse, closing(warehouse.connect(Role.READER)) as connection:
        rows = connection.execute(
            "SELECT archive, view_name, state, why FROM mart.coverage"
            " WHERE %(archive)s::text IS NULL OR archive = %(archive)s"
            " ORDER BY archive, array_position(%(states)s::text[], state), view_name",
            {"archive": archive, "states": list(STATES)},
        ).fetchall()
    if archive is not None and not rows:
        raise LookupFailedError(
            f"no archive with logs is called '{archive}'", hint="`tapewise archives list` shows them."
        )
    if as_json:
        for row in rows:
            click.echo(json.dumps(dict(zip(("archive", "view_name", "state", "why"), row, strict=True))))
        return
    if not rows:
        click.echo("No logs are loaded yet: see `tapewise ingest --help`.")
    shown = None
    width = max((len(name) for _, name, *_ in rows), default=0)
    for name, view_name, state, why in rows:
        if name != shown:
            counts = ", ".join(
                f"{sum(row[0] == name and row[2] == each for row in rows)} {each}" for each in STATES
            )
            click.echo(f"{escape_controls(name)}: {counts}")
            shown = name
        click.echo(f"  {view_name:<{width}}  {state:<6}  {why or ''}".rstrip())
