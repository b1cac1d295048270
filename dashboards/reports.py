"""Shows users of the pages the reports that `tapewise report --for-dashboards` writes.

Runs in Superset's environment. The name of an archive may be any text, but a request never names a file: the
name is quoted as in a URL, which leaves no slash in it.
"""

import os
import shlex
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote, unquote

from flask import Blueprint, Response, redirect, render_template, request, send_file

VARIABLE = "TAPEWISE_REPORTS"
# As in tapewise/report/kept_pages.py.
SUFFIX = ".report.html"
# Who may read this dataset may read the reports: both have what `mart` shows to all readers.
DATASET = "0c4a2938-8bd6-5052-a0cf-3aeda466827d"
ADDRESS = "/tapewise/report/"

blueprint = Blueprint("tapewise_reports", __name__)


def find_report(archive: str) -> Path | None:
    """Return the file of an archive's report, or None if there is none."""
    folder = os.environ.get(VARIABLE)
    if not folder or not archive:
        return None
    path = Path(folder, f"{quote(archive, safe='')}{SUFFIX}")
    try:
        return path if path.is_file() else None
    except OSError:  # the name is too long
        return None


def write_reports() -> str:
    """Write as SQL when each archive's report was written: a row of archive and time for each."""
    folder = os.environ.get(VARIABLE)
    found = []
    for path in sorted(Path(folder).glob(f"*{SUFFIX}")) if folder else []:
        try:
            written_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        except OSError:  # it was just removed
            continue
        archive = unquote(path.name.removesuffix(SUFFIX)).replace("'", "''")
        found.append(f"('{archive}', '{written_at.isoformat(timespec='seconds')}')")
    # The first row gives the columns their types, and matches no archive.
    return ", ".join(["VALUES (NULL::text, NULL::timestamptz)", *found])


def show_report() -> Response | str | tuple[str, int]:
    """Show the report of the archive in the address or, if there is none, the command that writes it."""
    from flask_login import current_user
    from superset import db, security_manager
    from superset.connectors.sqla.models import SqlaTable

    if not current_user.is_authenticated:
        return redirect(f"/login/?next={quote(request.full_path, safe='')}")
    dataset = db.session.query(SqlaTable).filter_by(uuid=DATASET).one_or_none()
    if dataset is None or not security_manager.can_access_datasource(dataset):
        return render_template("tapewise_no_report.html", reason="denied"), 403
    archive = request.args.get("archive", "")
    path = find_report(archive)
    if path is None:
        # Within quotes, a shell expands nothing.
        return render_template("tapewise_no_report.html", archive=archive, word=shlex.quote(archive)), 404
    answer = send_file(path, mimetype="text/html", max_age=0)
    answer.headers["Cache-Control"] = "private, no-cache"
    return answer


blueprint.add_url_rule(ADDRESS, view_func=show_report)
