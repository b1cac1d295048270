"""The ledger says which columns of the facts have values, so that `mart.coverage` need not read the facts."""

from tapewise.migrations.statements import run

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    """Add the column and fill it from the facts that are there, table by table."""
    run(
        """
        ALTER TABLE ledger.loaded_rows ADD COLUMN filled_columns TEXT[];

        DO $do$
        DECLARE
            fact_table text;
            event_time text;
            signs text;
        BEGIN
            FOR fact_table, event_time IN
                VALUES
                ('transfers', 'ended_at'),
                ('namespace_events', 'happened_at'),
                ('opens', 'opened_at'),
                ('unitree_jobs', 'ended_at'),
                ('stages', 'staged_at'),
                ('daily_reports', 'reported_at'),
                ('migrations', 'migrated_at'),
                ('srb_sessions', 'closed_at'),
                ('transfer_starts', 'began_at'),
                ('tape_events', 'happened_at')
            LOOP
                SELECT string_agg(format('CASE WHEN count(%1$I) > 0 THEN %1$L END', attname), ', ')
                INTO signs
                FROM pg_attribute
                WHERE
                    attrelid = format('core.%I', fact_table)::regclass
                    AND attnum > 0
                    AND NOT attnotnull
                    AND NOT attisdropped;
                IF fact_table = 'transfers' THEN
                    SELECT
                        signs || $$, CASE WHEN bool_or(is_failed) THEN 'failed' END, $$ || string_agg(
                            format(
                                'CASE WHEN count(%I) FILTER (WHERE is_failed) > 0 THEN %L END',
                                attname,
                                'failed ' || attname
                            ), ', '
                        )
                    INTO signs
                    FROM pg_attribute
                    WHERE
                        attrelid = 'core.transfers'::regclass
                        AND attnum > 0
                        AND NOT attnotnull
                        AND NOT attisdropped;
                ELSIF fact_table = 'namespace_events' THEN
                    SELECT
                        signs || ', ' || string_agg(
                            format('CASE WHEN bool_or(kind = %L) THEN %L END', kind, 'kind ' || kind), ', '
                        )
                    INTO signs
                    FROM unnest(ARRAY['delete', 'rename', 'copy']) AS kind;
                END IF;
                EXECUTE format(
                    $$
                    UPDATE ledger.loaded_rows
                    SET filled_columns = ARRAY(SELECT unnest(found.names) COLLATE "C" ORDER BY 1)
                    FROM (
                        SELECT
                            log_file_id,
                            date_trunc('month', %I AT TIME ZONE 'UTC')::date AS month,
                            array_remove(ARRAY[%s]::text[], NULL) AS names
                        FROM core.%I
                        GROUP BY 1, 2
                    ) AS found
                    WHERE
                        loaded_rows.log_file_id = found.log_file_id
                        AND loaded_rows.month = found.month
                        AND fact_table = %L
                    $$,
                    event_time, signs, fact_table, fact_table
                );
            END LOOP;
        END
        $do$;

        UPDATE ledger.loaded_rows SET filled_columns = '{}' WHERE filled_columns IS NULL;
        ALTER TABLE ledger.loaded_rows ALTER COLUMN filled_columns SET NOT NULL;
        """
    )


def downgrade() -> None:
    """Drop the column."""
    run("ALTER TABLE ledger.loaded_rows DROP COLUMN filled_columns;")
