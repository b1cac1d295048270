"""Mounts are found by their first event, so that those of later months are not read."""

from tapewise.migrations.statements import run

revision = "0053"
down_revision = "0052"


def upgrade() -> None:
    """Make the index, also in the months that there are."""
    run("CREATE INDEX mounts_archive_id_first_event_at_idx ON core.mounts (archive_id, first_event_at);")


def downgrade() -> None:
    """Drop it."""
    run("DROP INDEX core.mounts_archive_id_first_event_at_idx;")
