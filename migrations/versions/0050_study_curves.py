"""Kept studies have miss-ratio curves: what disks of given sizes would have missed."""

from tapewise.migrations.statements import run

revision = "0050"
down_revision = "0049"


def upgrade() -> None:
    """Add the table."""
    run(
        """
        CREATE TABLE studies.study_curves (
            study_id INTEGER NOT NULL,
            policy TEXT NOT NULL,
            capacity_bytes BIGINT NOT NULL,
            get_count BIGINT NOT NULL,
            miss_count BIGINT NOT NULL,
            miss_bytes BIGINT NOT NULL,
            first_count BIGINT NOT NULL,
            crowded_count BIGINT,
            plain_miss_count BIGINT,
            options JSONB NOT NULL,
            replayed_at TIMESTAMP WITH TIME ZONE NOT NULL,
            CONSTRAINT study_curves_pkey PRIMARY KEY (study_id, policy, capacity_bytes),
            CONSTRAINT study_curves_study_id_fkey FOREIGN KEY(study_id)
                REFERENCES studies.simulation_studies (id) ON DELETE CASCADE
        );
        COMMENT ON TABLE studies.study_curves IS
            'One row per study, rule and size of a disk: what that disk would have missed';

        GRANT SELECT, INSERT, DELETE ON studies.study_curves TO tapewise_loader;
        """
    )


def downgrade() -> None:
    """Drop the table, with the curves."""
    run("DROP TABLE studies.study_curves;")
