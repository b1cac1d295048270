"""Files deleted and replaced count in the class in which they were put: days of files are counted again.

Days whose detail was forgotten stay as they were counted, with removals in the class that their lines give.
"""

from tapewise.migrations.statements import run

revision = "0044"
down_revision = "0043"


def _end_recounts() -> None:
    run(
        """
        DELETE FROM studies.file_recounts;
        DELETE FROM studies.file_days USING ledger.sources, core.archives
            WHERE source_id = sources.id AND archive_id = archives.id
            AND day >= coalesce((retained_since AT TIME ZONE archives.timezone)::date, '-infinity');
        """
    )


def upgrade() -> None:
    """End all recounts; until the next refresh, files are followed for each answer."""
    _end_recounts()


def downgrade() -> None:
    """End all recounts, so that the older program counts again, too."""
    _end_recounts()
