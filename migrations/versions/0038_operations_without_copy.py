"""Operations on tape of logs that do not say which copy of a file was read or written."""

from tapewise.migrations.statements import run

revision = "0038"
down_revision = "0037"


def upgrade() -> None:
    """Let the number of the copy be unknown."""
    run("ALTER TABLE core.tape_operations ALTER COLUMN copy_number DROP NOT NULL;")


def downgrade() -> None:
    """Delete operations on unknown copies. They can be derived again, but not by the older program."""
    run("DELETE FROM core.tape_operations WHERE copy_number IS NULL;")
    run("ALTER TABLE core.tape_operations ALTER COLUMN copy_number SET NOT NULL;")
