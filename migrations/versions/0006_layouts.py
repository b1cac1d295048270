"""A source keeps the layout that its lines are read with, where the format is the site's own."""

from tapewise.migrations.statements import run

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the column; formats of sources that are there are known by their names."""
    run("ALTER TABLE ledger.sources ADD COLUMN layout_text text;")


def downgrade() -> None:
    """Drop it again: what was read with a site's own layout cannot be read again then."""
    run("ALTER TABLE ledger.sources DROP COLUMN layout_text;")
