CREATE TABLE core.compute_powers (
    id INTEGER GENERATED ALWAYS AS IDENTITY,
    archive_id INTEGER NOT NULL,
    flop_per_s DOUBLE PRECISION NOT NULL,
    note TEXT NOT NULL,
    starts_on DATE NOT NULL,
    recorded_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT compute_powers_pkey PRIMARY KEY (id),
    CONSTRAINT compute_powers_archive_id_starts_on_key UNIQUE (archive_id, starts_on),
    CONSTRAINT compute_powers_flop_per_s_check CHECK (flop_per_s >= 0 AND flop_per_s < 'infinity'),
    CONSTRAINT compute_powers_archive_id_fkey FOREIGN KEY (archive_id) REFERENCES core.archives (id) ON DELETE CASCADE
);
COMMENT ON TABLE core.compute_powers IS
    'One row per archive and day from which it serves computers of another power; said by people';

GRANT SELECT, INSERT, DELETE ON core.compute_powers TO tapewise_loader;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA core TO tapewise_loader;

CREATE OR REPLACE FUNCTION core.drop_unused_source(unused integer) RETURNS boolean
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
    ) OR EXISTS (
        -- What it has counted on days whose detail is forgotten.
        SELECT FROM core.routes WHERE source_id = unused
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
        OR EXISTS (SELECT FROM core.compute_powers WHERE archive_id = archive)
        OR EXISTS (SELECT FROM studies.workload_models WHERE archive_id = archive)
    ) THEN
        DELETE FROM core.users WHERE archive_id = archive;
        DELETE FROM core.hosts WHERE archive_id = archive;
        DELETE FROM core.archives WHERE id = archive;
    END IF;
    RETURN true;
END
$function$;
