"""Where the day of a log file comes from whose lines lack it."""

from tapewise.migrations.statements import run

revision = "0039"
down_revision = "0038"


def upgrade() -> None:
    """Add the column; for files that were read before, it is not known."""
    run("ALTER TABLE ledger.log_files ADD COLUMN log_date_from text;")


def downgrade() -> None:
    """Drop the column."""
    run("ALTER TABLE ledger.log_files DROP COLUMN log_date_from;")
