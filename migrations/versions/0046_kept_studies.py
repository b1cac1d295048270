"""Studies of simulated machines are kept: what was studied, and the figures of each run."""

from tapewise.migrations.statements import run

revision = "0046"
down_revision = "0045"


def upgrade() -> None:
    """Add the tables."""
    run(
        """
        CREATE TABLE studies.simulation_studies (
            id INTEGER GENERATED ALWAYS AS IDENTITY,
            name TEXT NOT NULL,
            digest TEXT NOT NULL,
            demand TEXT NOT NULL,
            demand_name TEXT NOT NULL,
            demand_archive TEXT,
            demand_kind TEXT,
            options JSONB NOT NULL,
            machine_title TEXT NOT NULL,
            machine JSONB NOT NULL,
            program_version TEXT NOT NULL,
            created_at TIMESTAMP WITH TIME ZONE NOT NULL,
            CONSTRAINT simulation_studies_pkey PRIMARY KEY (id),
            CONSTRAINT simulation_studies_name_key UNIQUE (name),
            CONSTRAINT simulation_studies_digest_key UNIQUE (digest),
            CONSTRAINT simulation_studies_demand_check CHECK (demand in ('archive', 'model', 'file')),
            CONSTRAINT simulation_studies_demand_kind_check
                CHECK (demand_kind in ('measured', 'synthetic', 'simulated'))
        );
        COMMENT ON TABLE studies.simulation_studies IS
            'One row per study: the requests, and the machine of which options were tried';

        CREATE TABLE studies.study_runs (
            study_id INTEGER NOT NULL,
            option TEXT NOT NULL,
            seed BIGINT NOT NULL,
            changed JSONB NOT NULL,
            figures JSONB NOT NULL,
            is_warm BOOLEAN NOT NULL,
            ran_at TIMESTAMP WITH TIME ZONE NOT NULL,
            CONSTRAINT study_runs_pkey PRIMARY KEY (study_id, option, seed),
            CONSTRAINT study_runs_study_id_fkey FOREIGN KEY(study_id)
                REFERENCES studies.simulation_studies (id) ON DELETE CASCADE
        );
        COMMENT ON TABLE studies.study_runs IS
            'One row per run of a study: the figures of an option with a seed';

        GRANT SELECT, INSERT, DELETE ON studies.simulation_studies, studies.study_runs TO tapewise_loader;
        GRANT USAGE ON ALL SEQUENCES IN SCHEMA studies TO tapewise_loader;
        """
    )


def downgrade() -> None:
    """Drop the tables, with the studies."""
    run("DROP TABLE studies.study_runs, studies.simulation_studies;")
