"""Gets counted by route, local day and the evidence of where their files were: SQL in the file of the same name.

The cells are filled from the facts that are there. Days whose detail was forgotten before have none.
"""

from pathlib import Path

from tapewise.migrations.statements import run

revision = "0030"
down_revision = "0029"


def upgrade() -> None:
    """Make the table and fill it."""
    run(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Drop the table: the facts can fill it again, except for days whose detail was forgotten since."""
    run(
        "DROP TABLE core.hit_cells;"
        " DELETE FROM core.routes"
        " WHERE NOT EXISTS (SELECT FROM core.day_cells WHERE route_id = routes.id)"
        " AND NOT EXISTS (SELECT FROM core.request_cells WHERE route_id = routes.id);"
    )
