"""The warehouse of the first release, 0.1.0, in one piece: its SQL is in the file of the same name.

It takes the place of revisions 0001 to 0020, which no release had.

Published: never changed. What comes later is a revision of its own.
"""

from pathlib import Path

from tapewise.migrations.statements import run

revision = "0021"
down_revision = None


def upgrade() -> None:
    """Make the schemas, and the secret of the warehouse's file keys."""
    run(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))
    # 244 random bits, as 64 hexadecimal digits: a block of SHA-256.
    run("""
        INSERT INTO ledger.secrets (name, secret)
        VALUES ('file keys', replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''));
    """)


def downgrade() -> None:
    """Drop everything, the facts included; the roles stay, other databases may use them."""
    run("""
        DROP SCHEMA core, studies CASCADE;
        DROP TABLE ledger.ignored_lines, ledger.rejected_lines, ledger.segments, ledger.landmarks;
        DROP TABLE ledger.loaded_rows, ledger.rounds, ledger.secrets, ledger.log_files, ledger.sources;
        REVOKE ALL ON SCHEMA ledger FROM tapewise_loader;
    """)
