-- Files counted by local day, and when they were counted.

CREATE TABLE studies.file_recounts (
    archive_id INTEGER NOT NULL,
    event_count BIGINT NOT NULL,
    last_load_id BIGINT NOT NULL,
    last_event_at TIMESTAMP WITH TIME ZONE,
    computed_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT file_recounts_pkey PRIMARY KEY (archive_id),
    CONSTRAINT file_recounts_archive_id_fkey FOREIGN KEY(archive_id) REFERENCES core.archives (id) ON DELETE CASCADE
);

COMMENT ON TABLE studies.file_recounts IS 'One row per archive whose files were counted by day, until facts of it are removed';

CREATE TABLE studies.file_days (
    source_id INTEGER NOT NULL,
    interface TEXT NOT NULL,
    direction TEXT NOT NULL,
    class_of_service TEXT,
    day DATE NOT NULL,
    put_count BIGINT NOT NULL,
    copy_count BIGINT NOT NULL,
    deleted_count BIGINT NOT NULL,
    overwritten_count BIGINT NOT NULL,
    unknown_size_count BIGINT NOT NULL,
    new_name_count BIGINT NOT NULL,
    unnamed_count BIGINT NOT NULL,
    put_bytes NUMERIC NOT NULL,
    copied_bytes NUMERIC NOT NULL,
    deleted_bytes NUMERIC NOT NULL,
    overwritten_bytes NUMERIC NOT NULL,
    age_bins INTEGER[] NOT NULL,
    age_get_counts BIGINT[] NOT NULL,
    age_unknown_size_counts BIGINT[] NOT NULL,
    age_bytes NUMERIC[] NOT NULL,
    CONSTRAINT file_days_source_id_key UNIQUE NULLS NOT DISTINCT (source_id, interface, direction, class_of_service, day),
    CONSTRAINT file_days_direction_check CHECK (direction in ('put', 'get')),
    CONSTRAINT file_days_source_id_fkey FOREIGN KEY(source_id) REFERENCES ledger.sources (id) ON DELETE CASCADE
);

COMMENT ON TABLE studies.file_days IS 'One row per route and local day of its archive with events of files; derived';

GRANT SELECT, INSERT, DELETE ON studies.file_recounts, studies.file_days TO tapewise_loader;
