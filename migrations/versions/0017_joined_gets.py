"""Gets that waited for another request's stage are known as such in simulated archives.

Published: never changed. What comes later is a revision of its own.
"""

from tapewise.migrations.statements import run

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Add the column, and fill it for what was simulated: who waited for a file waited for its put or a stage."""
    run("""
        ALTER TABLE core.requests ADD COLUMN is_joined boolean;
        UPDATE core.requests SET is_joined = waits.file_wait_s > 0 AND requests.stage_id IS NULL AND NOT EXISTS (
            SELECT FROM core.requests AS puts
            WHERE
                puts.archive_id = requests.archive_id
                AND puts.direction = 'put'
                AND puts.file_key = requests.file_key
                AND puts.ended_at > requests.submitted_at
        )
        FROM studies.request_waits AS waits
        WHERE
            waits.archive_id = requests.archive_id
            AND waits.transfer_id = requests.transfer_id
            AND requests.direction = 'get';
    """)


def downgrade() -> None:
    """Drop it again."""
    run("ALTER TABLE core.requests DROP COLUMN is_joined;")
