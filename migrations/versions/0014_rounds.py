"""A table that who reads all sources in turn locks: an advisory lock can be taken by whoever may connect.

Published: never changed. What comes later is a revision of its own.
"""

from tapewise.migrations.statements import run

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Add the table."""
    run("""
        CREATE TABLE ledger.rounds ();
        COMMENT ON TABLE ledger.rounds IS
            'Never has a row: who reads all sources in turn locks it, so that nobody else does';
        GRANT SELECT, UPDATE ON ledger.rounds TO tapewise_loader;
    """)


def downgrade() -> None:
    """Drop it again."""
    run("DROP TABLE ledger.rounds;")
