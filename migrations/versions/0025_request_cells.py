"""Requests counted by route and local day, for charts: its SQL is in the file of the same name.

The cells are filled from the facts that are there. Days whose detail was forgotten before have none.
"""

from pathlib import Path

from tapewise.migrations.statements import run

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    """Make the table and fill it."""
    run(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Drop the table: the facts can fill it again, except for days whose detail was forgotten since."""
    run(
        "DROP TABLE core.request_cells;"
        " DELETE FROM core.routes"
        " WHERE NOT EXISTS (SELECT FROM core.day_cells WHERE route_id = routes.id);"
        " REVOKE DELETE ON core.routes FROM tapewise_loader;"
        " COMMENT ON TABLE core.routes IS"
        " 'One row per source, interface, direction and class of service that a day cell has counted';"
    )
