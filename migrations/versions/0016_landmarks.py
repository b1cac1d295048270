"""Landmarks of log files: two sources of an archive do not hold the same lines.

Published: never changed. What comes later is a revision of its own.
"""

from tapewise.migrations.statements import run

revision = "0016"
down_revision = "0015"

TABLE = """
CREATE TABLE ledger.landmarks (
    source_id integer NOT NULL,
    digest bigint NOT NULL,
    log_file_id integer NOT NULL,
    fact_lines smallint NOT NULL,
    CONSTRAINT landmarks_pkey PRIMARY KEY (source_id, digest)
);
COMMENT ON TABLE ledger.landmarks IS
    'One row per place of a source''s log files by which copies are found in other sources';
GRANT SELECT, INSERT, UPDATE, DELETE ON ledger.landmarks TO tapewise_loader;
"""


def upgrade() -> None:
    """Add the table; of files that were read before there are no landmarks: `tapewise doctor` compares digests."""
    run(TABLE)


def downgrade() -> None:
    """Drop it again."""
    run("DROP TABLE ledger.landmarks;")
