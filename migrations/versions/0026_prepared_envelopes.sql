-- Answers about envelopes and residuals that `tapewise refresh` prepares: the tables and the loader's rights. And an
-- index that finds the transfers that were under way at a time.

CREATE TABLE studies.envelope_preparations (
    id INTEGER GENERATED ALWAYS AS IDENTITY,
    archive_id INTEGER NOT NULL,
    since TIMESTAMP WITH TIME ZONE,
    until TIMESTAMP WITH TIME ZONE,
    client TEXT,
    class_of_service TEXT,
    counted BIGINT NOT NULL,
    transfer_count BIGINT NOT NULL,
    first_ended_at TIMESTAMP WITH TIME ZONE,
    last_ended_at TIMESTAMP WITH TIME ZONE,
    took_s DOUBLE PRECISION NOT NULL,
    computed_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT envelope_preparations_pkey PRIMARY KEY (id),
    CONSTRAINT envelope_preparations_archive_id_key UNIQUE NULLS NOT DISTINCT (archive_id, since, until, client, class_of_service),
    CONSTRAINT envelope_preparations_archive_id_fkey FOREIGN KEY(archive_id) REFERENCES core.archives (id) ON DELETE CASCADE
);

COMMENT ON TABLE studies.envelope_preparations IS 'One row per archive, range, client and class of service whose envelopes and residuals are kept';

CREATE TABLE studies.prepared_envelopes (
    preparation_id INTEGER NOT NULL,
    interface TEXT NOT NULL,
    direction TEXT NOT NULL,
    stratum_size INTEGER NOT NULL,
    stratum_count BIGINT NOT NULL,
    transfer_count BIGINT NOT NULL,
    filtered_count BIGINT NOT NULL,
    latency_s DOUBLE PRECISION,
    slope_s_per_byte DOUBLE PRECISION,
    latency_se_s DOUBLE PRECISION,
    slope_se_s_per_byte DOUBLE PRECISION,
    regression_squares_s2 DOUBLE PRECISION,
    residual_squares_s2 DOUBLE PRECISION,
    CONSTRAINT prepared_envelopes_pkey PRIMARY KEY (preparation_id, interface, direction),
    CONSTRAINT prepared_envelopes_preparation_id_fkey FOREIGN KEY(preparation_id) REFERENCES studies.envelope_preparations (id) ON DELETE CASCADE
);

COMMENT ON TABLE studies.prepared_envelopes IS 'One row per kept line of a lower envelope; the other statistics follow from these';

CREATE TABLE studies.prepared_blocks (
    preparation_id INTEGER NOT NULL,
    interface TEXT NOT NULL,
    direction TEXT NOT NULL,
    block_size INTEGER NOT NULL,
    block BIGINT,
    transfer_count BIGINT NOT NULL,
    smallest_bytes BIGINT NOT NULL,
    mean_bytes DOUBLE PRECISION NOT NULL,
    largest_bytes BIGINT NOT NULL,
    mean_residual_s DOUBLE PRECISION,
    p99_residual_s DOUBLE PRECISION,
    is_outlier BOOLEAN NOT NULL,
    is_full BOOLEAN NOT NULL,
    CONSTRAINT prepared_blocks_preparation_id_key UNIQUE NULLS NOT DISTINCT (preparation_id, interface, direction, block),
    CONSTRAINT prepared_blocks_preparation_id_fkey FOREIGN KEY(preparation_id) REFERENCES studies.envelope_preparations (id) ON DELETE CASCADE
);

COMMENT ON TABLE studies.prepared_blocks IS 'One row per kept block of residuals';

GRANT SELECT, INSERT, DELETE ON studies.envelope_preparations, studies.prepared_envelopes TO tapewise_loader;
GRANT SELECT, INSERT, DELETE ON studies.prepared_blocks TO tapewise_loader;
GRANT USAGE ON SEQUENCE studies.envelope_preparations_id_seq TO tapewise_loader;

DROP INDEX core.transfers_brin;
CREATE INDEX transfers_brin ON core.transfers
USING brin (ended_at, id, log_file_id, started_at) WITH (pages_per_range = 32);
