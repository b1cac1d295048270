"""The data server that moved or opened a file, and how long a transfer sought; what was read before has neither."""

from tapewise.migrations.statements import run

revision = "0045"
down_revision = "0044"


def upgrade() -> None:
    """Add the columns."""
    run(
        """
        ALTER TABLE core.transfers ADD COLUMN server TEXT, ADD COLUMN seek_s DOUBLE PRECISION;
        ALTER TABLE core.opens ADD COLUMN server TEXT;
        """
    )


def downgrade() -> None:
    """Drop the columns."""
    run(
        """
        ALTER TABLE core.opens DROP COLUMN server;
        ALTER TABLE core.transfers DROP COLUMN seek_s, DROP COLUMN server;
        """
    )
