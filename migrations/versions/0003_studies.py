"""Studies: workload models (an archive's requests in classes, and what keeps them bursty) and simulations.

Published: never changed. What comes later is a revision of its own.
"""

from tapewise.migrations.statements import run

revision = "0003"
down_revision = "0002"

TABLES = """
CREATE SCHEMA studies;

CREATE TABLE studies.workload_models (
    id integer GENERATED ALWAYS AS IDENTITY,
    archive_id integer NOT NULL,
    name text NOT NULL,
    measure text NOT NULL,
    since timestamptz,
    until timestamptz,
    criterion text NOT NULL,
    idle_s double precision NOT NULL,
    seed bigint NOT NULL,
    program_version text NOT NULL,
    fitted_at timestamptz NOT NULL,
    first_ended_at timestamptz NOT NULL,
    last_ended_at timestamptz NOT NULL,
    CONSTRAINT workload_models_pkey PRIMARY KEY (id),
    CONSTRAINT workload_models_measure_check CHECK (measure in ('service', 'open')),
    CONSTRAINT workload_models_archive_id_fkey FOREIGN KEY(archive_id) REFERENCES core.archives (id),
    CONSTRAINT workload_models_name_key UNIQUE (name)
);

COMMENT ON TABLE studies.workload_models IS 'One row per workload model: the requests of an archive sorted into classes';

CREATE TABLE studies.workload_groups (
    model_id integer NOT NULL,
    interface text NOT NULL,
    direction text NOT NULL,
    request_count bigint NOT NULL,
    set_apart jsonb NOT NULL,
    criterion_values jsonb NOT NULL,
    bursts jsonb NOT NULL,
    CONSTRAINT workload_groups_pkey PRIMARY KEY (model_id, interface, direction),
    CONSTRAINT workload_groups_direction_check CHECK (direction in ('put', 'get')),
    CONSTRAINT workload_groups_model_id_fkey FOREIGN KEY(model_id) REFERENCES studies.workload_models (id)
);

COMMENT ON TABLE studies.workload_groups IS 'One row per interface and direction of a workload model';

CREATE TABLE studies.workload_classes (
    model_id integer NOT NULL,
    interface text NOT NULL,
    direction text NOT NULL,
    class_number integer NOT NULL,
    name text NOT NULL,
    request_count bigint NOT NULL,
    size_bytes numeric NOT NULL,
    cached_count bigint NOT NULL,
    uncached_count bigint NOT NULL,
    size_log10 double precision NOT NULL,
    time_log10 double precision NOT NULL,
    size_quantiles_bytes double precision[] NOT NULL,
    time_quantiles_s double precision[] NOT NULL,
    CONSTRAINT workload_classes_pkey PRIMARY KEY (model_id, interface, direction, class_number),
    CONSTRAINT workload_classes_model_id_interface_direction_fkey FOREIGN KEY(model_id, interface, direction) REFERENCES studies.workload_groups (model_id, interface, direction)
);

COMMENT ON TABLE studies.workload_classes IS 'One row per class of an interface and direction of a workload model; its centre in decades';

CREATE TABLE studies.simulation_runs (
    archive_id integer NOT NULL,
    demand text NOT NULL,
    demand_name text NOT NULL,
    demand_archive text,
    demand_kind text,
    options jsonb NOT NULL,
    machine_title text NOT NULL,
    machine jsonb NOT NULL,
    seed bigint NOT NULL,
    program_version text NOT NULL,
    simulated_at timestamptz NOT NULL,
    began_at timestamptz NOT NULL,
    steady_at timestamptz,
    ended_at timestamptz NOT NULL,
    job_count bigint NOT NULL,
    unfinished_count bigint NOT NULL,
    totals jsonb NOT NULL,
    CONSTRAINT simulation_runs_pkey PRIMARY KEY (archive_id),
    CONSTRAINT simulation_runs_demand_check CHECK (demand in ('archive', 'model', 'file')),
    CONSTRAINT simulation_runs_demand_kind_check CHECK (demand_kind in ('measured', 'synthetic', 'simulated')),
    CONSTRAINT simulation_runs_archive_id_fkey FOREIGN KEY(archive_id) REFERENCES core.archives (id) ON DELETE CASCADE
);

COMMENT ON TABLE studies.simulation_runs IS 'One row per simulated archive: the machine, what was asked of it, and what came of it';

CREATE TABLE studies.simulation_samples (
    archive_id integer NOT NULL,
    quantity text NOT NULL,
    sampled_at timestamptz NOT NULL,
    value double precision NOT NULL,
    CONSTRAINT simulation_samples_pkey PRIMARY KEY (archive_id, quantity, sampled_at),
    CONSTRAINT simulation_samples_archive_id_fkey FOREIGN KEY(archive_id) REFERENCES studies.simulation_runs (archive_id) ON DELETE CASCADE
);

COMMENT ON TABLE studies.simulation_samples IS 'One row per simulated archive, quantity and sample over time';

CREATE TABLE studies.request_waits (
    archive_id integer NOT NULL,
    transfer_id bigint NOT NULL,
    user_wait_s double precision NOT NULL,
    port_wait_s double precision NOT NULL,
    file_wait_s double precision NOT NULL,
    drive_wait_s double precision NOT NULL,
    load_wait_s double precision NOT NULL,
    space_wait_s double precision NOT NULL,
    latency_s double precision NOT NULL,
    staging_s double precision NOT NULL,
    transfer_s double precision NOT NULL,
    contention_s double precision NOT NULL,
    CONSTRAINT request_waits_pkey PRIMARY KEY (archive_id, transfer_id),
    CONSTRAINT request_waits_archive_id_fkey FOREIGN KEY(archive_id) REFERENCES studies.simulation_runs (archive_id) ON DELETE CASCADE
);

COMMENT ON TABLE studies.request_waits IS 'One row per request of a simulated archive: where its time went';
"""

GRANTS = """
GRANT USAGE ON SCHEMA studies TO tapewise_loader;
GRANT SELECT, INSERT, DELETE ON ALL TABLES IN SCHEMA studies TO tapewise_loader;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA studies TO tapewise_loader;
"""


def upgrade() -> None:
    """Make the schema of studies; there are none yet."""
    run(TABLES)
    run(GRANTS)


def downgrade() -> None:
    """Drop it again, with the models and runs in it; the facts that they were made from, and those simulated, stay."""
    run("DROP TABLE studies.request_waits, studies.simulation_samples, studies.simulation_runs;")
    run("DROP TABLE studies.workload_classes, studies.workload_groups, studies.workload_models;")
    run("DROP SCHEMA studies;")
