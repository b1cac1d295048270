"""${message}."""

from tapewise.migrations.statements import run

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}


def upgrade() -> None:
    """Create what this revision adds."""
    run("""
    """)


def downgrade() -> None:
    """Drop what this revision added."""
    run("""
    """)
