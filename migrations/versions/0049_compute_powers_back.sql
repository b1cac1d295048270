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
        OR EXISTS (SELECT FROM studies.workload_models WHERE archive_id = archive)
    ) THEN
        DELETE FROM core.users WHERE archive_id = archive;
        DELETE FROM core.hosts WHERE archive_id = archive;
        DELETE FROM core.archives WHERE id = archive;
    END IF;
    RETURN true;
END
$function$;

DROP TABLE core.compute_powers;
