"""Kept miss-ratio curves may be those of one pool of a disk."""

from tapewise.migrations.statements import run

revision = "0052"
down_revision = "0051"


def upgrade() -> None:
    """Add the pool; the curves that there are remain those of whole disks."""
    run(
        """
        ALTER TABLE studies.study_curves ADD COLUMN pool TEXT NOT NULL DEFAULT '';
        ALTER TABLE studies.study_curves
            ALTER COLUMN pool DROP DEFAULT,
            DROP CONSTRAINT study_curves_pkey,
            ADD CONSTRAINT study_curves_pkey PRIMARY KEY (study_id, policy, capacity_bytes, pool);
        COMMENT ON TABLE studies.study_curves IS
            'One row per study, pool, rule and size: what a disk or pool of that size would have missed';
        """
    )


def downgrade() -> None:
    """Drop the curves of pools, which would be taken for those of whole disks."""
    run(
        """
        DELETE FROM studies.study_curves WHERE pool <> '';
        ALTER TABLE studies.study_curves
            DROP CONSTRAINT study_curves_pkey,
            ADD CONSTRAINT study_curves_pkey PRIMARY KEY (study_id, policy, capacity_bytes);
        ALTER TABLE studies.study_curves DROP COLUMN pool;
        COMMENT ON TABLE studies.study_curves IS
            'One row per study, rule and size of a disk: what that disk would have missed';
        """
    )
