-- The warehouse of the first release, 0.1.0: tables, what SQLAlchemy cannot say of them, and rights.
-- The schema `ledger` is there already: it holds the table of revisions itself.
-- Published: never changed. What comes later is a revision of its own.

CREATE SCHEMA core;
CREATE SCHEMA studies;

CREATE SEQUENCE core.row_ids INCREMENT BY 10000;

CREATE TABLE core.archives (
    id INTEGER GENERATED ALWAYS AS IDENTITY,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    timezone TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    retained_since TIMESTAMP WITH TIME ZONE,
    CONSTRAINT archives_pkey PRIMARY KEY (id),
    CONSTRAINT archives_kind_check CHECK (kind in ('measured', 'synthetic', 'simulated')),
    CONSTRAINT archives_name_key UNIQUE (name)
)
 WITH (autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 0);

COMMENT ON TABLE core.archives IS 'One row per archive; what speaks of days or hours counts them in its timezone';

CREATE TABLE ledger.secrets (
    name TEXT NOT NULL,
    secret TEXT NOT NULL,
    CONSTRAINT secrets_pkey PRIMARY KEY (name)
);

COMMENT ON TABLE ledger.secrets IS 'One row per secret of the warehouse: with ''file keys'', paths become the keys of files';

CREATE TABLE ledger.rounds (
);

COMMENT ON TABLE ledger.rounds IS 'Never has a row: who reads all sources in turn locks it, so that nobody else does';

CREATE TABLE ledger.landmarks (
    source_id INTEGER NOT NULL,
    digest BIGINT NOT NULL,
    log_file_id INTEGER NOT NULL,
    fact_lines SMALLINT NOT NULL,
    CONSTRAINT landmarks_pkey PRIMARY KEY (source_id, digest)
);

COMMENT ON TABLE ledger.landmarks IS 'One row per place of a source''s log files by which copies are found in other sources';

CREATE TABLE ledger.loaded_rows (
    log_file_id INTEGER NOT NULL,
    load_id BIGINT NOT NULL,
    fact_table TEXT NOT NULL,
    month DATE NOT NULL,
    source_id INTEGER NOT NULL,
    row_count BIGINT NOT NULL,
    CONSTRAINT loaded_rows_pkey PRIMARY KEY (log_file_id, load_id, fact_table, month),
    CONSTRAINT loaded_rows_row_count_check CHECK (row_count >= 0)
);

CREATE INDEX loaded_rows_source_id_month_idx ON ledger.loaded_rows (source_id, month);

COMMENT ON TABLE ledger.loaded_rows IS 'One row per load, table of facts and month: how many rows the load wrote there';

CREATE TABLE core.transfers (
    id BIGINT NOT NULL,
    archive_id INTEGER NOT NULL,
    source_id INTEGER NOT NULL,
    log_file_id INTEGER NOT NULL,
    line_number BIGINT NOT NULL,
    line_hash BIGINT NOT NULL,
    occurrence INTEGER NOT NULL,
    ordinal SMALLINT DEFAULT 0 NOT NULL,
    ended_at TIMESTAMP WITH TIME ZONE NOT NULL,
    interface TEXT NOT NULL,
    operation TEXT NOT NULL,
    user_id INTEGER,
    host_id INTEGER,
    class_of_service TEXT,
    account TEXT,
    status_code INTEGER,
    is_failed BOOLEAN NOT NULL,
    is_time_ambiguous BOOLEAN NOT NULL,
    direction TEXT NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE,
    duration_s DOUBLE PRECISION,
    open_s DOUBLE PRECISION,
    size_bytes BIGINT,
    rate_bytes_per_s DOUBLE PRECISION,
    archive_path TEXT,
    client_path TEXT,
    file_key BIGINT,
    persona INTEGER,
    status_text TEXT,
    is_duration_coarse BOOLEAN NOT NULL,
    is_duration_below_clock BOOLEAN NOT NULL,
    is_size_saturated BOOLEAN NOT NULL,
    is_rate_inconsistent BOOLEAN NOT NULL,
    is_time_of_day_unknown BOOLEAN DEFAULT false NOT NULL,
    CONSTRAINT transfers_direction_check CHECK (direction in ('put', 'get'))
)
 PARTITION BY RANGE (ended_at);

CREATE INDEX transfers_brin ON core.transfers USING brin (ended_at, id, log_file_id) WITH (pages_per_range = 32);

COMMENT ON TABLE core.transfers IS 'One row per file moved, or tried, between a client and the archive';

CREATE TABLE core.opens (
    id BIGINT NOT NULL,
    archive_id INTEGER NOT NULL,
    source_id INTEGER NOT NULL,
    log_file_id INTEGER NOT NULL,
    line_number BIGINT NOT NULL,
    line_hash BIGINT NOT NULL,
    occurrence INTEGER NOT NULL,
    ordinal SMALLINT DEFAULT 0 NOT NULL,
    opened_at TIMESTAMP WITH TIME ZONE NOT NULL,
    interface TEXT NOT NULL,
    operation TEXT NOT NULL,
    user_id INTEGER,
    host_id INTEGER,
    class_of_service TEXT,
    account TEXT,
    status_code INTEGER,
    is_failed BOOLEAN NOT NULL,
    is_time_ambiguous BOOLEAN NOT NULL,
    direction TEXT,
    open_s DOUBLE PRECISION,
    archive_path TEXT,
    file_key BIGINT,
    is_cached BOOLEAN,
    is_time_of_day_unknown BOOLEAN DEFAULT false NOT NULL,
    CONSTRAINT opens_direction_check CHECK (direction in ('put', 'get'))
)
 PARTITION BY RANGE (opened_at);

CREATE INDEX opens_brin ON core.opens USING brin (opened_at, id, log_file_id) WITH (pages_per_range = 32);

COMMENT ON TABLE core.opens IS 'One row per file opened';

CREATE TABLE core.namespace_events (
    id BIGINT NOT NULL,
    archive_id INTEGER NOT NULL,
    source_id INTEGER NOT NULL,
    log_file_id INTEGER NOT NULL,
    line_number BIGINT NOT NULL,
    line_hash BIGINT NOT NULL,
    occurrence INTEGER NOT NULL,
    ordinal SMALLINT DEFAULT 0 NOT NULL,
    happened_at TIMESTAMP WITH TIME ZONE NOT NULL,
    interface TEXT NOT NULL,
    operation TEXT NOT NULL,
    user_id INTEGER,
    host_id INTEGER,
    class_of_service TEXT,
    account TEXT,
    status_code INTEGER,
    is_failed BOOLEAN NOT NULL,
    is_time_ambiguous BOOLEAN NOT NULL,
    kind TEXT NOT NULL,
    duration_s DOUBLE PRECISION,
    size_bytes BIGINT,
    archive_path TEXT,
    new_archive_path TEXT,
    file_key BIGINT,
    new_file_key BIGINT,
    is_time_of_day_unknown BOOLEAN DEFAULT false NOT NULL,
    CONSTRAINT namespace_events_kind_check CHECK (kind in ('delete', 'rename', 'copy'))
)
 PARTITION BY RANGE (happened_at);

CREATE INDEX namespace_events_brin ON core.namespace_events USING brin (happened_at, id, log_file_id) WITH (pages_per_range = 32);

COMMENT ON TABLE core.namespace_events IS 'One row per change of names that moved nothing between a client and the archive';

CREATE TABLE core.unitree_jobs (
    id BIGINT NOT NULL,
    archive_id INTEGER NOT NULL,
    source_id INTEGER NOT NULL,
    log_file_id INTEGER NOT NULL,
    line_number BIGINT NOT NULL,
    line_hash BIGINT NOT NULL,
    occurrence INTEGER NOT NULL,
    ordinal SMALLINT DEFAULT 0 NOT NULL,
    ended_at TIMESTAMP WITH TIME ZONE NOT NULL,
    interface TEXT NOT NULL,
    operation TEXT NOT NULL,
    user_id INTEGER,
    host_id INTEGER,
    class_of_service TEXT,
    account TEXT,
    status_code INTEGER,
    is_failed BOOLEAN,
    is_time_ambiguous BOOLEAN NOT NULL,
    direction TEXT,
    persona INTEGER NOT NULL,
    session_number INTEGER NOT NULL,
    job_number INTEGER NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE,
    duration_s DOUBLE PRECISION,
    description TEXT NOT NULL,
    is_start_after_end BOOLEAN NOT NULL,
    CONSTRAINT unitree_jobs_direction_check CHECK (direction in ('put', 'get'))
)
 PARTITION BY RANGE (ended_at);

CREATE INDEX unitree_jobs_brin ON core.unitree_jobs USING brin (ended_at, id, log_file_id) WITH (pages_per_range = 32);

COMMENT ON TABLE core.unitree_jobs IS 'One row per job of UniTree''s COND log';

CREATE TABLE core.stages (
    id BIGINT NOT NULL,
    archive_id INTEGER NOT NULL,
    source_id INTEGER NOT NULL,
    log_file_id INTEGER NOT NULL,
    line_number BIGINT NOT NULL,
    line_hash BIGINT NOT NULL,
    occurrence INTEGER NOT NULL,
    ordinal SMALLINT DEFAULT 0 NOT NULL,
    staged_at TIMESTAMP WITH TIME ZONE NOT NULL,
    interface TEXT NOT NULL,
    operation TEXT NOT NULL,
    user_id INTEGER,
    host_id INTEGER,
    class_of_service TEXT,
    account TEXT,
    status_code INTEGER,
    is_failed BOOLEAN NOT NULL,
    is_time_ambiguous BOOLEAN NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE,
    duration_s DOUBLE PRECISION,
    queue_s DOUBLE PRECISION,
    size_bytes BIGINT,
    archive_path TEXT,
    file_key BIGINT,
    persona INTEGER,
    is_duration_coarse BOOLEAN NOT NULL,
    is_duration_below_clock BOOLEAN NOT NULL,
    is_time_of_day_unknown BOOLEAN DEFAULT false NOT NULL
)
 PARTITION BY RANGE (staged_at);

CREATE INDEX stages_brin ON core.stages USING brin (staged_at, id, log_file_id) WITH (pages_per_range = 32);

COMMENT ON TABLE core.stages IS 'One row per file brought from tape to disk';

CREATE TABLE core.migrations (
    id BIGINT NOT NULL,
    archive_id INTEGER NOT NULL,
    source_id INTEGER NOT NULL,
    log_file_id INTEGER NOT NULL,
    line_number BIGINT NOT NULL,
    line_hash BIGINT NOT NULL,
    occurrence INTEGER NOT NULL,
    ordinal SMALLINT DEFAULT 0 NOT NULL,
    migrated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    interface TEXT NOT NULL,
    operation TEXT NOT NULL,
    user_id INTEGER,
    host_id INTEGER,
    class_of_service TEXT,
    account TEXT,
    status_code INTEGER,
    is_failed BOOLEAN NOT NULL,
    is_time_ambiguous BOOLEAN NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE,
    duration_s DOUBLE PRECISION,
    queue_s DOUBLE PRECISION,
    size_bytes BIGINT,
    archive_path TEXT,
    file_key BIGINT,
    is_duration_coarse BOOLEAN NOT NULL,
    is_duration_below_clock BOOLEAN NOT NULL,
    is_time_of_day_unknown BOOLEAN DEFAULT false NOT NULL
)
 PARTITION BY RANGE (migrated_at);

CREATE INDEX migrations_brin ON core.migrations USING brin (migrated_at, id, log_file_id) WITH (pages_per_range = 32);

COMMENT ON TABLE core.migrations IS 'One row per file written from disk to tape';

CREATE TABLE core.srb_sessions (
    id BIGINT NOT NULL,
    archive_id INTEGER NOT NULL,
    source_id INTEGER NOT NULL,
    log_file_id INTEGER NOT NULL,
    line_number BIGINT NOT NULL,
    line_hash BIGINT NOT NULL,
    occurrence INTEGER NOT NULL,
    ordinal SMALLINT DEFAULT 0 NOT NULL,
    closed_at TIMESTAMP WITH TIME ZONE NOT NULL,
    interface TEXT NOT NULL,
    operation TEXT NOT NULL,
    user_id INTEGER,
    host_id INTEGER,
    class_of_service TEXT,
    account TEXT,
    status_code INTEGER,
    is_failed BOOLEAN,
    is_time_ambiguous BOOLEAN NOT NULL,
    storage_type TEXT,
    open_type TEXT NOT NULL,
    open_s DOUBLE PRECISION,
    session_s DOUBLE PRECISION,
    read_count BIGINT,
    read_bytes BIGINT,
    write_count BIGINT,
    written_bytes BIGINT,
    seek_count BIGINT,
    archive_path TEXT,
    file_key BIGINT,
    is_time_of_day_unknown BOOLEAN DEFAULT false NOT NULL,
    CONSTRAINT srb_sessions_open_type_check CHECK (open_type in ('open', 'create'))
)
 PARTITION BY RANGE (closed_at);

CREATE INDEX srb_sessions_brin ON core.srb_sessions USING brin (closed_at, id, log_file_id) WITH (pages_per_range = 32);

COMMENT ON TABLE core.srb_sessions IS 'One row per file that was open by way of the Storage Resource Broker, from its open to its close';

CREATE TABLE core.transfer_starts (
    id BIGINT NOT NULL,
    archive_id INTEGER NOT NULL,
    source_id INTEGER NOT NULL,
    log_file_id INTEGER NOT NULL,
    line_number BIGINT NOT NULL,
    line_hash BIGINT NOT NULL,
    occurrence INTEGER NOT NULL,
    ordinal SMALLINT DEFAULT 0 NOT NULL,
    began_at TIMESTAMP WITH TIME ZONE NOT NULL,
    interface TEXT NOT NULL,
    operation TEXT NOT NULL,
    user_id INTEGER,
    host_id INTEGER,
    class_of_service TEXT,
    account TEXT,
    status_code INTEGER,
    is_failed BOOLEAN NOT NULL,
    is_time_ambiguous BOOLEAN NOT NULL,
    direction TEXT NOT NULL,
    is_cached BOOLEAN,
    size_bytes BIGINT,
    archive_path TEXT,
    file_key BIGINT,
    capability TEXT,
    capability_key BIGINT,
    copy_count INTEGER,
    network TEXT,
    CONSTRAINT transfer_starts_direction_check CHECK (direction in ('put', 'get'))
)
 PARTITION BY RANGE (began_at);

CREATE INDEX transfer_starts_brin ON core.transfer_starts USING brin (began_at, id, log_file_id) WITH (pages_per_range = 32);

COMMENT ON TABLE core.transfer_starts IS 'One row per transfer asked for, where a log has a line for that';

CREATE TABLE core.tape_events (
    id BIGINT NOT NULL,
    archive_id INTEGER NOT NULL,
    source_id INTEGER NOT NULL,
    log_file_id INTEGER NOT NULL,
    line_number BIGINT NOT NULL,
    line_hash BIGINT NOT NULL,
    occurrence INTEGER NOT NULL,
    ordinal SMALLINT DEFAULT 0 NOT NULL,
    happened_at TIMESTAMP WITH TIME ZONE NOT NULL,
    interface TEXT NOT NULL,
    operation TEXT NOT NULL,
    user_id INTEGER,
    host_id INTEGER,
    class_of_service TEXT,
    account TEXT,
    status_code INTEGER,
    is_failed BOOLEAN,
    is_time_ambiguous BOOLEAN NOT NULL,
    kind TEXT NOT NULL,
    task TEXT,
    requester TEXT,
    capability TEXT,
    capability_key BIGINT,
    location TEXT,
    copy_number INTEGER,
    fragment_number INTEGER,
    vsn TEXT,
    tape_type TEXT,
    drive TEXT,
    block_offset BIGINT,
    size_bytes BIGINT,
    CONSTRAINT tape_events_kind_check CHECK (kind in ('received', 'mount requested', 'positioned', 'transferred', 'dismount requested', 'dismounted')),
    CONSTRAINT tape_events_task_check CHECK (task in ('stage', 'migration')),
    CONSTRAINT tape_events_requester_check CHECK (requester in ('client', 'repacker'))
)
 PARTITION BY RANGE (happened_at);

CREATE INDEX tape_events_brin ON core.tape_events USING brin (happened_at, id, log_file_id) WITH (pages_per_range = 32);

COMMENT ON TABLE core.tape_events IS 'One row per event of a tape server: of a file to be read or written, or of a cartridge in a drive';

CREATE TABLE core.daily_reports (
    id BIGINT NOT NULL,
    archive_id INTEGER NOT NULL,
    source_id INTEGER NOT NULL,
    log_file_id INTEGER NOT NULL,
    line_number BIGINT NOT NULL,
    line_hash BIGINT NOT NULL,
    occurrence INTEGER NOT NULL,
    ordinal SMALLINT DEFAULT 0 NOT NULL,
    reported_at TIMESTAMP WITH TIME ZONE NOT NULL,
    interface TEXT NOT NULL,
    operation TEXT NOT NULL,
    user_id INTEGER,
    host_id INTEGER,
    class_of_service TEXT,
    account TEXT,
    status_code INTEGER,
    is_failed BOOLEAN NOT NULL,
    is_time_ambiguous BOOLEAN NOT NULL,
    reported_on DATE NOT NULL,
    system TEXT,
    item TEXT,
    part TEXT,
    figures TEXT NOT NULL,
    is_total BOOLEAN NOT NULL
)
 PARTITION BY RANGE (reported_at);

CREATE INDEX daily_reports_brin ON core.daily_reports USING brin (reported_at, id, log_file_id) WITH (pages_per_range = 32);

COMMENT ON TABLE core.daily_reports IS 'One row per line of a site''s daily report that has figures';

CREATE TABLE core.requests (
    archive_id INTEGER NOT NULL,
    ended_at TIMESTAMP WITH TIME ZONE NOT NULL,
    transfer_id BIGINT,
    twin_transfer_id BIGINT,
    open_id BIGINT,
    stage_id BIGINT,
    job_id BIGINT,
    start_id BIGINT,
    source_id INTEGER NOT NULL,
    interface TEXT NOT NULL,
    direction TEXT,
    user_id INTEGER,
    host_id INTEGER,
    class_of_service TEXT,
    file_key BIGINT,
    capability_key BIGINT,
    persona INTEGER,
    size_bytes BIGINT,
    duration_s DOUBLE PRECISION,
    open_s DOUBLE PRECISION,
    stage_s DOUBLE PRECISION,
    is_counted BOOLEAN NOT NULL,
    is_failed BOOLEAN,
    is_cached BOOLEAN,
    is_joined BOOLEAN,
    is_size_saturated BOOLEAN NOT NULL,
    is_time_ambiguous BOOLEAN NOT NULL,
    submitted_at TIMESTAMP WITH TIME ZONE,
    opened_at TIMESTAMP WITH TIME ZONE,
    staged_at TIMESTAMP WITH TIME ZONE,
    started_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT requests_direction_check CHECK (direction in ('put', 'get')),
    CONSTRAINT requests_subject_check CHECK (num_nonnulls(transfer_id, open_id, job_id, start_id) >= 1)
)
 PARTITION BY RANGE (ended_at);

CREATE INDEX requests_archive_id_ended_at_idx ON core.requests (archive_id, ended_at);

COMMENT ON TABLE core.requests IS 'One row per request that several lines tell, or a job or an open alone; derived';

CREATE TABLE core.mounts (
    archive_id INTEGER NOT NULL,
    first_event_at TIMESTAMP WITH TIME ZONE NOT NULL,
    last_event_at TIMESTAMP WITH TIME ZONE NOT NULL,
    mount_id BIGINT NOT NULL,
    received_at TIMESTAMP WITH TIME ZONE,
    mount_requested_at TIMESTAMP WITH TIME ZONE,
    positioned_at TIMESTAMP WITH TIME ZONE,
    transferred_at TIMESTAMP WITH TIME ZONE,
    dismount_requested_at TIMESTAMP WITH TIME ZONE,
    dismounted_at TIMESTAMP WITH TIME ZONE,
    transfer_count BIGINT NOT NULL,
    failed_count BIGINT NOT NULL,
    repacker_count BIGINT NOT NULL,
    transfer_s DOUBLE PRECISION,
    requester TEXT,
    interface TEXT NOT NULL,
    vsn TEXT,
    tape_type TEXT,
    drive TEXT,
    location TEXT,
    size_bytes BIGINT,
    is_time_ambiguous BOOLEAN NOT NULL,
    CONSTRAINT mounts_requester_check CHECK (requester in ('client', 'repacker'))
)
 PARTITION BY RANGE (last_event_at);

CREATE INDEX mounts_archive_id_last_event_at_idx ON core.mounts (archive_id, last_event_at);

COMMENT ON TABLE core.mounts IS 'One row per cartridge in a drive, from the request to mount it to its dismount; derived';

CREATE TABLE core.tape_operations (
    archive_id INTEGER NOT NULL,
    first_event_at TIMESTAMP WITH TIME ZONE NOT NULL,
    last_event_at TIMESTAMP WITH TIME ZONE NOT NULL,
    operation_id BIGINT NOT NULL,
    mount_id BIGINT,
    task TEXT NOT NULL,
    requester TEXT NOT NULL,
    capability_key BIGINT NOT NULL,
    class_of_service TEXT,
    copy_number INTEGER NOT NULL,
    fragment_number INTEGER,
    block_offset BIGINT,
    received_at TIMESTAMP WITH TIME ZONE,
    mount_requested_at TIMESTAMP WITH TIME ZONE,
    positioned_at TIMESTAMP WITH TIME ZONE,
    transferred_at TIMESTAMP WITH TIME ZONE,
    is_failed BOOLEAN,
    interface TEXT NOT NULL,
    vsn TEXT,
    tape_type TEXT,
    drive TEXT,
    location TEXT,
    size_bytes BIGINT,
    is_time_ambiguous BOOLEAN NOT NULL,
    CONSTRAINT tape_operations_task_check CHECK (task in ('stage', 'migration')),
    CONSTRAINT tape_operations_requester_check CHECK (requester in ('client', 'repacker'))
)
 PARTITION BY RANGE (last_event_at);

CREATE INDEX tape_operations_archive_id_last_event_at_idx ON core.tape_operations (archive_id, last_event_at);

COMMENT ON TABLE core.tape_operations IS 'One row per file read from a cartridge or written to one, or asked to be; derived';

CREATE TABLE core.users (
    id INTEGER GENERATED ALWAYS AS IDENTITY,
    archive_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    CONSTRAINT users_pkey PRIMARY KEY (id),
    CONSTRAINT users_archive_id_name_key UNIQUE (archive_id, name),
    CONSTRAINT users_archive_id_fkey FOREIGN KEY(archive_id) REFERENCES core.archives (id)
);

COMMENT ON TABLE core.users IS 'One row per user name or number of an archive';

CREATE TABLE core.hosts (
    id INTEGER GENERATED ALWAYS AS IDENTITY,
    archive_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    CONSTRAINT hosts_pkey PRIMARY KEY (id),
    CONSTRAINT hosts_archive_id_name_key UNIQUE (archive_id, name),
    CONSTRAINT hosts_archive_id_fkey FOREIGN KEY(archive_id) REFERENCES core.archives (id)
);

COMMENT ON TABLE core.hosts IS 'One row per client machine of an archive, as its logs name it';

CREATE TABLE ledger.sources (
    id INTEGER GENERATED ALWAYS AS IDENTITY,
    archive_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    format TEXT NOT NULL,
    timezone TEXT NOT NULL,
    clock_resolution_s DOUBLE PRECISION NOT NULL,
    is_counted BOOLEAN NOT NULL,
    earliest_at TIMESTAMP WITH TIME ZONE NOT NULL,
    latest_at TIMESTAMP WITH TIME ZONE,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    pseudonym_key_id TEXT,
    layout_text TEXT,
    is_shared BOOLEAN DEFAULT false NOT NULL,
    failure_tables TEXT[] DEFAULT '{}' NOT NULL,
    failures_as TEXT,
    is_of_parts BOOLEAN DEFAULT false NOT NULL,
    CONSTRAINT sources_pkey PRIMARY KEY (id),
    CONSTRAINT sources_archive_id_name_key UNIQUE (archive_id, name),
    CONSTRAINT sources_archive_id_fkey FOREIGN KEY(archive_id) REFERENCES core.archives (id)
);

COMMENT ON TABLE ledger.sources IS 'One row per stream of logs; its settings do not change once it has been read from';

CREATE TABLE core.outages (
    id INTEGER GENERATED ALWAYS AS IDENTITY,
    archive_id INTEGER NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE NOT NULL,
    ended_at TIMESTAMP WITH TIME ZONE,
    kind TEXT NOT NULL,
    note TEXT NOT NULL,
    recorded_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT outages_pkey PRIMARY KEY (id),
    CONSTRAINT outages_kind_check CHECK (kind in ('scheduled', 'unscheduled')),
    CONSTRAINT outages_order_check CHECK (ended_at > started_at),
    CONSTRAINT outages_archive_id_fkey FOREIGN KEY(archive_id) REFERENCES core.archives (id)
);

COMMENT ON TABLE core.outages IS 'One row per time that the archive was known not to serve; said by people';

CREATE TABLE core.config_changes (
    id INTEGER GENERATED ALWAYS AS IDENTITY,
    archive_id INTEGER NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE NOT NULL,
    ended_at TIMESTAMP WITH TIME ZONE,
    kind TEXT NOT NULL,
    class_of_service TEXT,
    note TEXT NOT NULL,
    recorded_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT config_changes_pkey PRIMARY KEY (id),
    CONSTRAINT config_changes_kind_check CHECK (kind in ('staging bypass', 'tape only', 'other')),
    CONSTRAINT config_changes_order_check CHECK (ended_at > started_at),
    CONSTRAINT config_changes_archive_id_fkey FOREIGN KEY(archive_id) REFERENCES core.archives (id)
);

COMMENT ON TABLE core.config_changes IS 'One row per time that the archive was known to be set up otherwise; said by people';

CREATE TABLE core.activity_cells (
    archive_id INTEGER NOT NULL,
    cell_at TIMESTAMP WITH TIME ZONE NOT NULL,
    interface TEXT NOT NULL,
    direction TEXT NOT NULL,
    transfer_count BIGINT NOT NULL,
    failed_count BIGINT NOT NULL,
    saturated_count BIGINT NOT NULL,
    size_bytes NUMERIC NOT NULL,
    duration_us BIGINT NOT NULL,
    is_time_of_day_unknown BOOLEAN DEFAULT false NOT NULL,
    failures_unlogged_count BIGINT DEFAULT 0 NOT NULL,
    unknown_size_count BIGINT DEFAULT 0 NOT NULL,
    unknown_duration_count BIGINT DEFAULT 0 NOT NULL,
    CONSTRAINT activity_cells_pkey PRIMARY KEY (archive_id, cell_at, interface, direction, is_time_of_day_unknown),
    CONSTRAINT activity_cells_archive_id_fkey FOREIGN KEY(archive_id) REFERENCES core.archives (id)
);

COMMENT ON TABLE core.activity_cells IS 'One row per archive, ten minutes of its local clock, interface and direction; derived';

CREATE TABLE studies.workload_models (
    id INTEGER GENERATED ALWAYS AS IDENTITY,
    archive_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    measure TEXT NOT NULL,
    since TIMESTAMP WITH TIME ZONE,
    until TIMESTAMP WITH TIME ZONE,
    criterion TEXT NOT NULL,
    idle_s DOUBLE PRECISION NOT NULL,
    seed BIGINT NOT NULL,
    program_version TEXT NOT NULL,
    fitted_at TIMESTAMP WITH TIME ZONE NOT NULL,
    first_ended_at TIMESTAMP WITH TIME ZONE NOT NULL,
    last_ended_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT workload_models_pkey PRIMARY KEY (id),
    CONSTRAINT workload_models_measure_check CHECK (measure in ('service', 'open')),
    CONSTRAINT workload_models_archive_id_fkey FOREIGN KEY(archive_id) REFERENCES core.archives (id),
    CONSTRAINT workload_models_name_key UNIQUE (name)
);

COMMENT ON TABLE studies.workload_models IS 'One row per workload model: the requests of an archive sorted into classes';

CREATE TABLE studies.simulation_runs (
    archive_id INTEGER NOT NULL,
    demand TEXT NOT NULL,
    demand_name TEXT NOT NULL,
    demand_archive TEXT,
    demand_kind TEXT,
    options JSONB NOT NULL,
    machine_title TEXT NOT NULL,
    machine JSONB NOT NULL,
    seed BIGINT NOT NULL,
    program_version TEXT NOT NULL,
    simulated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    began_at TIMESTAMP WITH TIME ZONE NOT NULL,
    steady_at TIMESTAMP WITH TIME ZONE,
    ended_at TIMESTAMP WITH TIME ZONE NOT NULL,
    job_count BIGINT NOT NULL,
    unfinished_count BIGINT NOT NULL,
    totals JSONB NOT NULL,
    CONSTRAINT simulation_runs_pkey PRIMARY KEY (archive_id),
    CONSTRAINT simulation_runs_demand_check CHECK (demand in ('archive', 'model', 'file')),
    CONSTRAINT simulation_runs_demand_kind_check CHECK (demand_kind in ('measured', 'synthetic', 'simulated')),
    CONSTRAINT simulation_runs_archive_id_fkey FOREIGN KEY(archive_id) REFERENCES core.archives (id) ON DELETE CASCADE
);

COMMENT ON TABLE studies.simulation_runs IS 'One row per simulated archive: the machine, what was asked of it, and what came of it';

CREATE TABLE ledger.log_files (
    id INTEGER GENERATED BY DEFAULT AS IDENTITY,
    source_id INTEGER NOT NULL,
    path TEXT NOT NULL,
    content_digest TEXT NOT NULL,
    read_bytes BIGINT NOT NULL,
    waiting_bytes BIGINT NOT NULL,
    format_version INTEGER NOT NULL,
    program_version TEXT NOT NULL,
    first_read_at TIMESTAMP WITH TIME ZONE NOT NULL,
    last_read_at TIMESTAMP WITH TIME ZONE NOT NULL,
    first_event_at TIMESTAMP WITH TIME ZONE,
    last_event_at TIMESTAMP WITH TIME ZONE,
    line_count BIGINT NOT NULL,
    loaded_count BIGINT NOT NULL,
    held_count BIGINT NOT NULL,
    ignored_count BIGINT NOT NULL,
    rejected_count BIGINT NOT NULL,
    log_date DATE,
    device NUMERIC(20, 0),
    inode NUMERIC(20, 0),
    size_bytes BIGINT,
    ctime_ns BIGINT,
    CONSTRAINT log_files_pkey PRIMARY KEY (id),
    CONSTRAINT log_files_balance_check CHECK (line_count = loaded_count + held_count + ignored_count + rejected_count),
    CONSTRAINT log_files_counts_check CHECK (least(loaded_count, held_count, ignored_count, rejected_count) >= 0),
    CONSTRAINT log_files_source_id_fkey FOREIGN KEY(source_id) REFERENCES ledger.sources (id)
);

CREATE INDEX log_files_source_id_path_idx ON ledger.log_files (source_id, path);

COMMENT ON TABLE ledger.log_files IS 'One row per log file (a path and what stood there); a file that has grown keeps its row';

CREATE TABLE studies.workload_groups (
    model_id INTEGER NOT NULL,
    interface TEXT NOT NULL,
    direction TEXT NOT NULL,
    request_count BIGINT NOT NULL,
    set_apart JSONB NOT NULL,
    criterion_values JSONB NOT NULL,
    bursts JSONB NOT NULL,
    CONSTRAINT workload_groups_pkey PRIMARY KEY (model_id, interface, direction),
    CONSTRAINT workload_groups_direction_check CHECK (direction in ('put', 'get')),
    CONSTRAINT workload_groups_model_id_fkey FOREIGN KEY(model_id) REFERENCES studies.workload_models (id)
);

COMMENT ON TABLE studies.workload_groups IS 'One row per interface and direction of a workload model';

CREATE TABLE studies.simulation_samples (
    archive_id INTEGER NOT NULL,
    quantity TEXT NOT NULL,
    sampled_at TIMESTAMP WITH TIME ZONE NOT NULL,
    value DOUBLE PRECISION NOT NULL,
    CONSTRAINT simulation_samples_pkey PRIMARY KEY (archive_id, quantity, sampled_at),
    CONSTRAINT simulation_samples_archive_id_fkey FOREIGN KEY(archive_id) REFERENCES studies.simulation_runs (archive_id) ON DELETE CASCADE
);

COMMENT ON TABLE studies.simulation_samples IS 'One row per simulated archive, quantity and sample over time';

CREATE TABLE studies.request_waits (
    archive_id INTEGER NOT NULL,
    transfer_id BIGINT NOT NULL,
    user_wait_s DOUBLE PRECISION NOT NULL,
    port_wait_s DOUBLE PRECISION NOT NULL,
    file_wait_s DOUBLE PRECISION NOT NULL,
    drive_wait_s DOUBLE PRECISION NOT NULL,
    load_wait_s DOUBLE PRECISION NOT NULL,
    space_wait_s DOUBLE PRECISION NOT NULL,
    latency_s DOUBLE PRECISION NOT NULL,
    staging_s DOUBLE PRECISION NOT NULL,
    transfer_s DOUBLE PRECISION NOT NULL,
    contention_s DOUBLE PRECISION NOT NULL,
    CONSTRAINT request_waits_pkey PRIMARY KEY (archive_id, transfer_id),
    CONSTRAINT request_waits_archive_id_fkey FOREIGN KEY(archive_id) REFERENCES studies.simulation_runs (archive_id) ON DELETE CASCADE
);

COMMENT ON TABLE studies.request_waits IS 'One row per request of a simulated archive: where its time went';

CREATE TABLE ledger.segments (
    log_file_id INTEGER NOT NULL,
    first_line_number BIGINT NOT NULL,
    source_id INTEGER NOT NULL,
    digest UUID NOT NULL,
    line_count INTEGER NOT NULL,
    fact_count INTEGER NOT NULL,
    ignored_counts JSONB NOT NULL,
    rejected_counts JSONB NOT NULL,
    first_event_at TIMESTAMP WITH TIME ZONE,
    last_event_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT segments_pkey PRIMARY KEY (log_file_id, first_line_number),
    CONSTRAINT segments_log_file_id_fkey FOREIGN KEY(log_file_id) REFERENCES ledger.log_files (id),
    CONSTRAINT segments_source_id_fkey FOREIGN KEY(source_id) REFERENCES ledger.sources (id)
);

CREATE INDEX segments_source_id_digest_idx ON ledger.segments (source_id, digest);

COMMENT ON TABLE ledger.segments IS 'One row per piece of a log file whose lines are known: what became of them stands here in sum';

CREATE TABLE ledger.ignored_lines (
    log_file_id INTEGER NOT NULL,
    reason TEXT NOT NULL,
    line_count BIGINT NOT NULL,
    CONSTRAINT ignored_lines_pkey PRIMARY KEY (log_file_id, reason),
    CONSTRAINT ignored_lines_log_file_id_fkey FOREIGN KEY(log_file_id) REFERENCES ledger.log_files (id)
);

COMMENT ON TABLE ledger.ignored_lines IS 'One row per log file and reason for which lines of it were passed over';

CREATE TABLE ledger.rejected_lines (
    log_file_id INTEGER NOT NULL,
    line_number BIGINT NOT NULL,
    reason TEXT NOT NULL,
    line_hash BIGINT NOT NULL,
    text TEXT,
    CONSTRAINT rejected_lines_pkey PRIMARY KEY (log_file_id, line_number),
    CONSTRAINT rejected_lines_log_file_id_fkey FOREIGN KEY(log_file_id) REFERENCES ledger.log_files (id)
);

COMMENT ON TABLE ledger.rejected_lines IS 'One row per line that no record could be made of';

CREATE TABLE studies.workload_classes (
    model_id INTEGER NOT NULL,
    interface TEXT NOT NULL,
    direction TEXT NOT NULL,
    class_number INTEGER NOT NULL,
    name TEXT NOT NULL,
    request_count BIGINT NOT NULL,
    size_bytes NUMERIC NOT NULL,
    cached_count BIGINT NOT NULL,
    uncached_count BIGINT NOT NULL,
    size_log10 DOUBLE PRECISION NOT NULL,
    time_log10 DOUBLE PRECISION NOT NULL,
    size_quantiles_bytes DOUBLE PRECISION[] NOT NULL,
    time_quantiles_s DOUBLE PRECISION[] NOT NULL,
    CONSTRAINT workload_classes_pkey PRIMARY KEY (model_id, interface, direction, class_number),
    CONSTRAINT workload_classes_model_id_interface_direction_fkey FOREIGN KEY(model_id, interface, direction) REFERENCES studies.workload_groups (model_id, interface, direction)
);

COMMENT ON TABLE studies.workload_classes IS 'One row per class of an interface and direction of a workload model; its centre in decades';

CREATE FUNCTION core.make_partitions(fact_table text, months date[]) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $function$
DECLARE
    since date;
    partition text;
    made integer := 0;
BEGIN
    IF NOT EXISTS (
        SELECT FROM pg_partitioned_table WHERE partrelid = to_regclass(format('core.%I', fact_table))
    ) THEN
        RAISE EXCEPTION 'core.% is not cut into months', fact_table;
    END IF;
    -- One at a time, by a lock that minds neither those who read nor those who load, and that a reader cannot
    -- take: an advisory lock anybody may take who may connect.
    EXECUTE format('LOCK TABLE ONLY core.%I IN SHARE UPDATE EXCLUSIVE MODE', fact_table);
    FOR since IN SELECT DISTINCT date_trunc('month', month)::date FROM unnest(months) AS month ORDER BY 1 LOOP
        partition := format('%s_%s', fact_table, to_char(since, 'YYYY_MM'));
        CONTINUE WHEN to_regclass(format('core.%I', partition)) IS NOT NULL;
        EXECUTE format(
            'CREATE TABLE core.%I (LIKE core.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)',
            partition,
            fact_table
        );
        EXECUTE format(
            'ALTER TABLE core.%I ATTACH PARTITION core.%I FOR VALUES FROM (%L) TO (%L)',
            fact_table,
            partition,
            format('%s 00:00:00+00', since),
            format('%s 00:00:00+00', (since + interval '1 month')::date)
        );
        made := made + 1;
    END LOOP;
    RETURN made;
END
$function$;
COMMENT ON FUNCTION core.make_partitions(text, date[]) IS
    'Makes the missing month partitions (UTC) of a table of facts; gives how many it made';

CREATE FUNCTION core.analyze_archives() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $function$
BEGIN
    ANALYZE core.archives;
END
$function$;
COMMENT ON FUNCTION core.analyze_archives() IS
    'Counts the archives for the planner; for whoever has made one';

CREATE FUNCTION core.summarize_partitions(fact_table text, months date[]) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $function$
DECLARE
    index regclass;
    partition regclass;
    made integer := 0;
BEGIN
    FOR index, partition IN
        SELECT pg_index.indexrelid, pg_index.indrelid
        FROM (SELECT DISTINCT date_trunc('month', month) AS since FROM unnest(months) AS month) AS given
        JOIN pg_index
            ON pg_index.indrelid = to_regclass(format('core.%I', fact_table || to_char(since, '_YYYY_MM')))
        JOIN pg_inherits ON pg_inherits.inhrelid = pg_index.indrelid
        JOIN pg_class ON pg_class.oid = pg_index.indexrelid
        JOIN pg_am ON pg_am.oid = pg_class.relam
        WHERE pg_am.amname = 'brin' AND pg_inherits.inhparent = to_regclass(format('core.%I', fact_table))
    LOOP
        BEGIN
            EXECUTE format('LOCK TABLE %s IN SHARE UPDATE EXCLUSIVE MODE NOWAIT', partition);
            made := made + brin_summarize_new_values(index);
        EXCEPTION WHEN lock_not_available THEN
            NULL;  -- nobody waits: what is left out is put in by the next load of the month, or by vacuum
        END;
    END LOOP;
    RETURN made;
END
$function$;
COMMENT ON FUNCTION core.summarize_partitions(text, date[]) IS
    'Adds what was written last to the BRIN indexes of month partitions; gives how many ranges';

-- Facts are only ever added. The one exception: a file's order says that a line belongs to the second pass
-- of an hour that its source's clocks repeat. The row is deleted and added again, with its id, in this
-- function alone; only its times change.
CREATE FUNCTION core.move_second_passes(
    fact_table text,
    of_source integer,
    firsts timestamptz[],
    seconds timestamptz[],
    hashes bigint[],
    occurrences integer[]
) RETURNS TABLE (
    first_at timestamptz,
    second_at timestamptz,
    interface text,
    direction text,
    is_failed boolean,
    is_size_saturated boolean,
    size_bytes bigint,
    duration_s double precision,
    log_file_id integer,
    id bigint
)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
-- Fresh facts have no statistics, and on guesses the planner would compare each with each.
SET enable_nestloop = off AS $function$
DECLARE
    facts regclass := to_regclass(format('core.%I', fact_table));
    event_time name;
    zone text;
    start text;
    wrong timestamptz;
BEGIN
    -- Tables of facts are those in months whose rows know their lines.
    SELECT pg_attribute.attname INTO event_time
    FROM pg_partitioned_table
    JOIN pg_attribute ON pg_attribute.attrelid = partrelid AND pg_attribute.attnum = partattrs[0]
    WHERE partrelid = facts
        AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = facts AND attname = 'line_hash');
    IF event_time IS NULL THEN
        RAISE EXCEPTION 'core.% is no table of facts', fact_table USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT sources.timezone INTO zone FROM ledger.sources WHERE sources.id = of_source;
    IF zone IS NULL THEN
        RAISE EXCEPTION 'there is no source %', of_source USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT earlier INTO wrong FROM unnest(firsts, seconds) AS told (earlier, later)
    WHERE (earlier < later AND earlier AT TIME ZONE zone = later AT TIME ZONE zone) IS NOT TRUE
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'clocks of % do not show the time of % again at the time given', zone, wrong
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    -- What was measured took equally long in either pass.
    start := 'started_at + (second_at - first_at)';
    IF fact_table = 'unitree_jobs' THEN
        -- The start of a job is in its line. It belongs to the second pass, too, if it is shown twice and is
        -- not after the end; otherwise the job took longer than it seemed to.
        start := format(
            'started_at + CASE'
            ' WHEN started_at <= first_at'
            ' AND started_at AT TIME ZONE %1$L = (started_at + (second_at - first_at)) AT TIME ZONE %1$L'
            ' THEN second_at - first_at ELSE interval %2$L END',
            zone,
            '0'
        );
    END IF;
    RETURN QUERY EXECUTE (
        SELECT format(
            'WITH gone AS ('
            ' DELETE FROM %1$s AS fact'
            ' USING unnest($1, $2, $3, $4) AS told (first_at, second_at, told_hash, told_occurrence)'
            ' WHERE fact.source_id = $5 AND fact.%2$I BETWEEN $6 AND $7'
            ' AND fact.%2$I = first_at AND fact.line_hash = told_hash AND fact.occurrence = told_occurrence'
            ' RETURNING fact.*, first_at, second_at'
            '), added AS (INSERT INTO %1$s (%3$s) SELECT %4$s FROM gone)'
            ' SELECT first_at, second_at, %5$s FROM gone',
            facts,
            event_time,
            string_agg(quote_ident(attname), ', ' ORDER BY attnum),
            string_agg(
                CASE
                    WHEN attname = event_time THEN 'second_at'
                    WHEN attname = 'started_at' THEN start
                    WHEN fact_table = 'unitree_jobs' AND attname = 'is_start_after_end'
                        THEN format('coalesce(%s > second_at, is_start_after_end)', start)
                    WHEN fact_table = 'unitree_jobs' AND attname = 'duration_s'
                        THEN format(
                            'CASE WHEN %1$s <= second_at THEN extract(epoch FROM second_at - (%1$s)) END',
                            start
                        )
                    ELSE quote_ident(attname)
                END,
                ', ' ORDER BY attnum
            ),
            CASE WHEN fact_table = 'transfers'
                THEN 'interface, direction, is_failed, is_size_saturated, size_bytes, duration_s'
                ELSE 'NULL::text, NULL::text, NULL::boolean, NULL::boolean, NULL::bigint, NULL::float8'
            END || ', log_file_id, id'
        )
        FROM pg_attribute
        WHERE attrelid = facts AND attnum > 0 AND NOT attisdropped
    ) USING
        firsts, seconds, hashes, occurrences, of_source,
        (SELECT min(earlier) FROM unnest(firsts) AS earlier),
        (SELECT max(earlier) FROM unnest(firsts) AS earlier);
END
$function$;
COMMENT ON FUNCTION core.move_second_passes(
    text, integer, timestamptz[], timestamptz[], bigint[], integer[]
) IS
    'Moves facts of a source into the second pass of an hour that its clocks repeat; gives what was moved';

CREATE FUNCTION core.drop_unused_source(unused integer) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $function$
DECLARE
    archive integer;
BEGIN
    -- Whoever loads the archive needs the source: it stays then.
    SELECT archives.id INTO archive FROM core.archives
    WHERE archives.id = (SELECT archive_id FROM ledger.sources WHERE sources.id = unused)
    FOR UPDATE SKIP LOCKED;
    IF archive IS NULL OR EXISTS (
        SELECT FROM ledger.log_files WHERE source_id = unused AND (
            loaded_count + held_count > 0 OR rejected_count = 0 OR EXISTS (
                SELECT FROM ledger.ignored_lines WHERE log_file_id = log_files.id AND reason <> 'blank line'
            )
        )
    ) THEN
        RETURN false;
    END IF;
    DELETE FROM ledger.ignored_lines USING ledger.log_files
    WHERE log_file_id = log_files.id AND source_id = unused;
    DELETE FROM ledger.rejected_lines USING ledger.log_files
    WHERE log_file_id = log_files.id AND source_id = unused;
    DELETE FROM ledger.segments WHERE source_id = unused;
    DELETE FROM ledger.log_files WHERE source_id = unused;
    DELETE FROM ledger.sources WHERE id = unused;
    IF NOT (
        EXISTS (SELECT FROM core.archives WHERE id = archive AND retained_since IS NOT NULL)
        OR EXISTS (SELECT FROM ledger.sources WHERE archive_id = archive)
        OR EXISTS (SELECT FROM core.activity_cells WHERE archive_id = archive)
        OR EXISTS (SELECT FROM core.outages WHERE archive_id = archive)
        OR EXISTS (SELECT FROM core.config_changes WHERE archive_id = archive)
        OR EXISTS (SELECT FROM studies.workload_models WHERE archive_id = archive)
    ) THEN
        DELETE FROM core.users WHERE archive_id = archive;
        DELETE FROM core.hosts WHERE archive_id = archive;
        DELETE FROM core.archives WHERE id = archive;
    END IF;
    RETURN true;
END
$function$;
COMMENT ON FUNCTION core.drop_unused_source(integer) IS
    'Drops a source no line of which was one of its format, and its archive if it holds nothing else';

REVOKE ALL ON FUNCTION core.make_partitions(text, date[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION core.make_partitions(text, date[]) TO tapewise_loader;
REVOKE ALL ON FUNCTION core.analyze_archives() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION core.analyze_archives() TO tapewise_loader;
REVOKE ALL ON FUNCTION core.summarize_partitions(text, date[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION core.summarize_partitions(text, date[]) TO tapewise_loader;
REVOKE ALL ON FUNCTION core.move_second_passes(
    text, integer, timestamptz[], timestamptz[], bigint[], integer[]
) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION core.move_second_passes(
    text, integer, timestamptz[], timestamptz[], bigint[], integer[]
) TO tapewise_loader;
REVOKE ALL ON FUNCTION core.drop_unused_source(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION core.drop_unused_source(integer) TO tapewise_loader;
GRANT USAGE ON SCHEMA ledger, core TO tapewise_loader;
GRANT SELECT ON ALL TABLES IN SCHEMA ledger, core TO tapewise_loader;
GRANT INSERT, UPDATE ON core.archives TO tapewise_loader;
GRANT INSERT ON core.users, core.hosts TO tapewise_loader;
GRANT INSERT ON core.transfers, core.opens, core.namespace_events TO tapewise_loader;
GRANT INSERT ON core.unitree_jobs, core.stages TO tapewise_loader;
GRANT INSERT ON core.transfer_starts, core.tape_events TO tapewise_loader;
GRANT INSERT, DELETE ON core.mounts, core.tape_operations TO tapewise_loader;
GRANT INSERT ON core.daily_reports TO tapewise_loader;
GRANT INSERT ON core.migrations, core.srb_sessions TO tapewise_loader;
GRANT INSERT, DELETE ON core.requests, core.outages, core.config_changes TO tapewise_loader;
GRANT INSERT, UPDATE, DELETE ON core.activity_cells TO tapewise_loader;
GRANT INSERT, UPDATE ON ledger.sources, ledger.log_files TO tapewise_loader;
GRANT DELETE ON ledger.log_files TO tapewise_loader;
GRANT INSERT, UPDATE, DELETE ON ledger.loaded_rows TO tapewise_loader;
GRANT INSERT, DELETE ON ledger.segments TO tapewise_loader;
GRANT INSERT, UPDATE, DELETE ON ledger.landmarks TO tapewise_loader;
GRANT INSERT, UPDATE, DELETE ON ledger.ignored_lines, ledger.rejected_lines TO tapewise_loader;
GRANT UPDATE ON ledger.rounds TO tapewise_loader;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA ledger, core TO tapewise_loader;
GRANT USAGE ON SCHEMA studies TO tapewise_loader;
GRANT SELECT, INSERT, DELETE ON ALL TABLES IN SCHEMA studies TO tapewise_loader;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA studies TO tapewise_loader;
