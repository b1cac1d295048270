CREATE VIEW mart.archive_states AS

-- Hashes do not depend on the session's zone, as texts would, and their sums not on the order of rows. All
-- that is written, moved or deleted changes the counts of rows by load; row numbers of loads are never used
-- again.
WITH parts AS (
    SELECT
        archives.name AS archive,
        archives.kind,
        hash_record_extended(archives, 0) AS settings_hash,
        (
            SELECT sum(hash_record_extended(sources, 0))
            FROM ledger.sources
            WHERE sources.archive_id = archives.id
        ) AS sources_hash,
        (
            SELECT
                sum(
                    hash_record_extended(
                        row(log_files.id, log_files.first_event_at, log_files.last_event_at), 0
                    )
                )
            FROM ledger.log_files
            INNER JOIN ledger.sources ON log_files.source_id = sources.id
            WHERE sources.archive_id = archives.id
        ) AS files_hash,
        (
            SELECT sum(hash_record_extended(loaded_rows, 0))
            FROM ledger.loaded_rows
            INNER JOIN ledger.sources ON loaded_rows.source_id = sources.id
            WHERE sources.archive_id = archives.id
        ) AS rows_hash,
        (
            SELECT sum(hash_record_extended(outages, 0))
            FROM core.outages
            WHERE outages.archive_id = archives.id
        ) AS outages_hash,
        (
            SELECT sum(hash_record_extended(config_changes, 0))
            FROM core.config_changes
            WHERE config_changes.archive_id = archives.id
        ) AS changes_hash,
        (
            SELECT sum(hash_record_extended(file_recounts, 0))
            FROM studies.file_recounts
            WHERE file_recounts.archive_id = archives.id
        ) AS recounts_hash,
        (
            SELECT sum(hash_record_extended(envelope_preparations, 0))
            FROM studies.envelope_preparations
            WHERE envelope_preparations.archive_id = archives.id
        ) AS preparations_hash,
        (
            SELECT sum(hash_record_extended(simulation_runs, 0))
            FROM studies.simulation_runs
            WHERE simulation_runs.archive_id = archives.id
        ) AS simulations_hash
    FROM core.archives
)

SELECT
    parts.*,
    md5(
        concat_ws(
            '|',
            obj_description(to_regnamespace('mart'), 'pg_namespace'),
            current_setting('server_version_num'),
            parts::text
        )
    ) AS state
FROM parts;
