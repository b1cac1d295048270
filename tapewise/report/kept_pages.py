"""The folder of reports that the dashboards link to: an HTML file for each archive."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

import psycopg

# Other files in the folder are left alone. dashboards/reports.py reads the same names.
SUFFIX = ".report.html"
# Written at the end of a page, so that a page is not made again as long as nothing has changed.
_STATE = "<!-- state {} -->\n"


@dataclass(frozen=True)
class KeptPage:
    """The page of one archive, and a digest of what its content depends on."""

    archive: str
    path: Path
    state: str

    @property
    def is_fresh(self) -> bool:
        """Whether the file has what a new one would have, apart from its date."""
        try:
            with self.path.open("rb") as file:
                file.seek(-min(200, self.path.stat().st_size), 2)
                end = file.read().decode(errors="replace")
        except OSError:
            return False
        return end.endswith(_STATE.format(self.state))

    def complete(self, text: str) -> str:
        """Return the text of the page with its state."""
        return text + _STATE.format(self.state)


def list_pages(
    connection: psycopg.Connection, folder: Path, archive: str | None, version: str
) -> list[KeptPage]:
    """List the pages of all archives, or of one; none if there is no such archive."""
    rows = connection.execute(
        "SELECT archive, state FROM mart.archive_states"
        " WHERE %(archive)s::text IS NULL OR archive = %(archive)s ORDER BY archive",
        {"archive": archive},
    ).fetchall()
    return [KeptPage(name, folder / name_file(name), f"{version} {state}") for name, state in rows]


def name_file(archive: str) -> str:
    """Return the name of an archive's file. An archive may have any name, also one with slashes."""
    return f"{quote(archive, safe='')}{SUFFIX}"


def remove_others(folder: Path, pages: list[KeptPage]) -> list[str]:
    """Remove pages of archives that are no longer there; return the names of these archives."""
    kept = {page.path.name for page in pages}
    removed = []
    for path in sorted(folder.iterdir()):
        if path.name.endswith(SUFFIX) and path.name not in kept:
            path.unlink()
            removed.append(unquote(path.name.removesuffix(SUFFIX)))
    return removed
