"""Sources say whether their transfers are reads and writes within files.

Published: never changed. What comes later is a revision of its own.
"""

from tapewise.migrations.statements import run

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    """Add the column: of the formats so far, DB2's containers are read and written in parts."""
    run("""
        ALTER TABLE ledger.sources ADD COLUMN is_of_parts boolean DEFAULT false NOT NULL;
        UPDATE ledger.sources SET is_of_parts = true WHERE format = 'db2-containers' AND layout_text IS NULL;
    """)


def downgrade() -> None:
    """Drop it again."""
    run("ALTER TABLE ledger.sources DROP COLUMN is_of_parts;")
