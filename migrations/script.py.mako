"""${message}."""

from tapewise.migrations.statements import run

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}


def upgrade() -> None:
    """What this revision makes."""
    run("""
    """)


def downgrade() -> None:
    """What this revision drops."""
    run("""
    """)
