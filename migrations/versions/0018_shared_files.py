"""Sources whose files have lines of two formats share them: a line that one holds is held for the other.

Published: never changed. What comes later is a revision of its own.
"""

from tapewise.migrations.statements import run

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    """Add the column: nobody shares yet."""
    run("ALTER TABLE ledger.sources ADD COLUMN is_shared boolean DEFAULT false NOT NULL;")


def downgrade() -> None:
    """Drop it again."""
    run("ALTER TABLE ledger.sources DROP COLUMN is_shared;")
