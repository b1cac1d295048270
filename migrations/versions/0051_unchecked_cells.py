"""The archive of ten minutes is not checked any more, as it never was in the tables of facts."""

from tapewise.migrations.statements import run

revision = "0051"
down_revision = "0050"


def upgrade() -> None:
    """Drop the foreign key, which each added row had to check."""
    run("ALTER TABLE core.activity_cells DROP CONSTRAINT activity_cells_archive_id_fkey;")


def downgrade() -> None:
    """Restore it."""
    run(
        """
        ALTER TABLE core.activity_cells ADD CONSTRAINT activity_cells_archive_id_fkey
            FOREIGN KEY (archive_id) REFERENCES core.archives (id);
        """
    )
