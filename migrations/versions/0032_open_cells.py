"""Requests counted by route, local day, month and year, and open time: its SQL is in the file of the same name.

The cells are filled from the facts that are there. Days whose detail was forgotten before have none.
"""

from pathlib import Path

from tapewise.migrations.statements import run

revision = "0032"
down_revision = "0031"


def upgrade() -> None:
    """Make the table and fill it. A route may have no direction now: some logs of opens do not report it."""
    run(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Drop the table: the facts can fill it again, except for days whose detail was forgotten since."""
    run(
        "DROP TABLE core.open_cells;"
        " DELETE FROM core.routes"
        " WHERE NOT EXISTS (SELECT FROM core.day_cells WHERE route_id = routes.id)"
        " AND NOT EXISTS (SELECT FROM core.request_cells WHERE route_id = routes.id)"
        " AND NOT EXISTS (SELECT FROM core.hit_cells WHERE route_id = routes.id)"
        " AND NOT EXISTS (SELECT FROM core.user_cells WHERE route_id = routes.id);"
        " ALTER TABLE core.routes ALTER COLUMN direction SET NOT NULL;"
    )
