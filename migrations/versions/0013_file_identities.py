"""The ledger keeps what a file was when it was read: device, inode, size, time of its last change.

Published: never changed. What comes later is a revision of its own.
"""

from tapewise.migrations.statements import run

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Add the columns; of files that were read before they are unknown, so that these are read once more."""
    run("""
        ALTER TABLE ledger.log_files
            ADD COLUMN device numeric(20, 0), ADD COLUMN inode numeric(20, 0),
            ADD COLUMN size_bytes bigint, ADD COLUMN ctime_ns bigint;
    """)


def downgrade() -> None:
    """Drop them again."""
    run("""
        ALTER TABLE ledger.log_files
            DROP COLUMN device, DROP COLUMN inode, DROP COLUMN size_bytes, DROP COLUMN ctime_ns;
    """)
