CREATE VIEW mart.archive_states AS

WITH archives AS (
    SELECT * FROM core.archives
)

-- Sums of hashes do not depend on the order of rows. All that is written, moved or deleted changes the counts
-- of rows by load, and what people record changes its own rows. Row numbers of loads are never used again.
SELECT
    archives.name AS archive,
    archives.kind,
    md5(
        concat_ws(
            '|',
            obj_description(to_regnamespace('mart'), 'pg_namespace'),
            current_setting('server_version_num'),
            archives::text,
            (
                SELECT sum(hashtextextended(sources::text, 0))
                FROM ledger.sources
                WHERE sources.archive_id = archives.id
            ),
            (
                SELECT
                    sum(
                        hashtextextended(
                            row(log_files.id, log_files.first_event_at, log_files.last_event_at)::text, 0
                        )
                    )
                FROM ledger.log_files
                INNER JOIN ledger.sources ON log_files.source_id = sources.id
                WHERE sources.archive_id = archives.id
            ),
            (
                SELECT sum(hashtextextended(loaded_rows::text, 0))
                FROM ledger.loaded_rows
                INNER JOIN ledger.sources ON loaded_rows.source_id = sources.id
                WHERE sources.archive_id = archives.id
            ),
            (
                SELECT sum(hashtextextended(outages::text, 0))
                FROM core.outages
                WHERE outages.archive_id = archives.id
            ),
            (
                SELECT sum(hashtextextended(config_changes::text, 0))
                FROM core.config_changes
                WHERE config_changes.archive_id = archives.id
            ),
            (
                SELECT sum(hashtextextended(file_recounts::text, 0))
                FROM studies.file_recounts
                WHERE file_recounts.archive_id = archives.id
            ),
            (
                SELECT sum(hashtextextended(envelope_preparations::text, 0))
                FROM studies.envelope_preparations
                WHERE envelope_preparations.archive_id = archives.id
            ),
            (
                SELECT sum(hashtextextended(simulation_runs::text, 0))
                FROM studies.simulation_runs
                WHERE simulation_runs.archive_id = archives.id
            )
        )
    ) AS state
FROM archives;
